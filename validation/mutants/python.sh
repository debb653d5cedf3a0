#!/usr/bin/env bash
# Do tests notice single changes of the Python modules that decide what figures mean? mutmut makes
# one at a time and runs the tests of these modules:
#   validation/mutants/python.sh [OPTION of mutmut run ...]
# Prints the changes that went unnoticed, by function, and the share that was noticed. Changes of
# functions that none of these tests calls count as unnoticed. Installs mutmut below target/.
set -euo pipefail
cd "$(dirname "$0")/../.."

modules="stats study/grades study/prediction"
tests="test_stats test_intervals test_grades test_prediction test_tally"
root=$(pwd) out=$(pwd)/target/mutants/python
python=$root/.venv/bin/python
rm -rf "$out"
mkdir -p "$out/tests" "$root/target/tools"
tools=$root/target/tools/mutmut
[ -x "$tools/bin/mutmut" ] || {
  "$python" -m venv --system-site-packages "$tools"
  "$tools/bin/python" -m pip install --quiet mutmut
  # What the tests need is where the project's own environment has it.
  "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    > "$("$tools/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/own.pth"
}

# mutmut wants the package at the top of its folder, and copies it: without links.
cp -RL python/forebay "$out/forebay"
cp tests/python/conftest.py tests/python/front.py "$out/tests"
for test in $tests; do cp "tests/python/$test.py" "$out/tests"; done
printf '[pytest]\npythonpath = .\n' > "$out/pytest.ini"
{
  printf '[mutmut]\nsource_paths=forebay\nonly_mutate=\n'
  for module in $modules; do printf '    forebay/%s.py\n' "$module"; done
  printf 'also_copy=\n    forebay\n    tests\n    pytest.ini\n'
  printf 'pytest_add_cli_args_test_selection=tests\n'
} > "$out/setup.cfg"
cd "$out"
"$tools/bin/mutmut" run "$@" > run.log 2>&1 || { tail -20 run.log >&2; exit 1; }
"$tools/bin/mutmut" results --all true > results.txt 2>/dev/null
sed -n 's/__mutmut_[0-9]*: \(survived\|no tests\)$/: \1/p' results.txt | sort | uniq -c | sort -rn
awk -F ': ' '/__mutmut_/ && $2 != "not checked" && $2 != "skipped" {
    made++; if ($2 != "survived" && $2 != "no tests") noticed++ }
  END { share = 100 * noticed / made
    printf "mutants: python: %d of %d noticed, %.1f %%\n", noticed, made, share }' \
  results.txt
