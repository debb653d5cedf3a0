//! Assertions: `%{ assert tcpi_snd_cwnd == 10 and tcpi_ca_state == TCP_CA_Open }%`.

use forebay_parameters::did_you_mean;

use crate::cursor::Cursor;
use crate::language::{CONSTANTS, NAMES};
use crate::problem::{Slip, place, quoted, slip};

/// An expression as a tree. Truth is 1, falsehood 0.
#[derive(Clone, PartialEq, Debug)]
enum Expression {
    Number(f64),
    /// Index in [`NAMES`].
    Name(usize),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Both(Operator, Box<(Expression, Expression)>),
    /// `a <= b < c`: each neighbouring pair.
    Chain(Vec<(Comparison, Expression)>, Box<Expression>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Or,
    And,
    Plus,
    Minus,
    Times,
    Over,
    WholeOver,
    Rest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Comparison {
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Less,
    Greater,
}

/// One `assert`.
#[derive(Clone, PartialEq, Debug)]
pub struct Assertion {
    expression: Expression,
    /// The expression as written, on one line.
    pub text: String,
    /// Line of the script.
    pub line: u32,
    /// The quantities that it names: indices in [`NAMES`], each once.
    pub names: Vec<usize>,
}

impl Assertion {
    /// Returns true if it holds, given the quantities in the order of [`NAMES`].
    #[must_use]
    pub fn holds(&self, values: &[f64; NAMES.len()]) -> bool {
        // What is no number is not true.
        let value = self.expression.value(values);
        value != 0.0 && !value.is_nan()
    }
}

/// Maximum depth of parentheses and signs: deeper ones would exhaust the stack.
const MAX_DEPTH: u32 = 50;

/// Maximum number of numbers and names in an assertion: the tree of a longer one would exhaust the
/// stack.
const MAX_TERMS: u32 = 500;

/// Read the assertions of a block that begins at the offset `from` of `text`, behind `%{`.
pub(crate) fn read_block(text: &str, from: usize, block: &str) -> Result<Vec<Assertion>, Slip> {
    let mut reader = Reader { cursor: Cursor::new(block), names: Vec::new(), deep: 0, long: 0 };
    let shift = |slip: Slip| Slip { at: slip.at.map(|at| at + from), ..slip };
    let mut found = Vec::new();
    loop {
        reader.blanks(true);
        if reader.cursor.rest().is_empty() {
            break;
        }
        let line = place(text, from + reader.cursor.at()).0;
        found.push(reader.assertion(line).map_err(shift)?);
    }
    if found.is_empty() {
        return slip(from, "no assertion; allowed is one such as assert tcpi_snd_cwnd == 10");
    }
    Ok(found)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    names: Vec<usize>,
    deep: u32,
    long: u32,
}

impl Reader<'_> {
    /// Pass blanks and comments; inside parentheses also line ends, and between statements
    /// semicolons as well.
    fn blanks(&mut self, between: bool) {
        loop {
            self.cursor.take_while(|c| {
                let line_end = between || self.deep > 0;
                c == ' ' || c == '\t' || (line_end && c.is_whitespace()) || (between && c == ';')
            });
            let comment = between && self.cursor.rest().starts_with("//");
            if !comment && !self.cursor.accept("#") {
                return;
            }
            self.cursor.take_while(|c| c != '\n');
        }
    }

    fn accept(&mut self, sign: &str) -> bool {
        self.blanks(false);
        self.cursor.accept(sign)
    }

    fn accept_word(&mut self, word: &str) -> bool {
        self.blanks(false);
        let mut ahead = self.cursor.clone();
        let there = ahead.word() == word;
        if there {
            self.cursor = ahead;
        }
        there
    }

    fn assertion(&mut self, line: u32) -> Result<Assertion, Slip> {
        if !self.accept_word("assert") {
            return self.cursor.unlike("assert EXPRESSION");
        }
        self.blanks(false);
        let from = self.cursor.at();
        self.names.clear();
        self.long = 0;
        let expression = self.disjunction()?;
        let text = self.cursor.since(from).split_whitespace().collect::<Vec<_>>().join(" ");
        let names = std::mem::take(&mut self.names);
        if self.accept(",") {
            // What the assertion would print if it failed.
            self.cursor.take_while(|c| c != '\n' && c != ';');
        }
        self.blanks(false);
        match self.cursor.peek() {
            None | Some('\n' | '\r' | ';') => Ok(Assertion { expression, text, line, names }),
            _ => self.cursor.unlike("an operator, or the end of the assertion"),
        }
    }

    fn disjunction(&mut self) -> Result<Expression, Slip> {
        let mut left = self.conjunction()?;
        while self.accept_word("or") || self.accept("||") {
            left = both(Operator::Or, left, self.conjunction()?);
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, Slip> {
        let mut left = self.negation()?;
        while self.accept_word("and") || self.accept("&&") {
            left = both(Operator::And, left, self.negation()?);
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, Slip> {
        if self.accept_word("not") {
            let inner = self.deeper(Self::negation)?;
            return Ok(Expression::Not(Box::new(inner)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Expression, Slip> {
        const SIGNS: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let mut left = self.sum()?;
        let mut pairs = Vec::new();
        while let Some((_, sign)) = SIGNS.iter().find(|(sign, _)| self.accept(sign)) {
            let right = self.sum()?;
            pairs.push((*sign, std::mem::replace(&mut left, right)));
        }
        if pairs.is_empty() {
            return Ok(left);
        }
        Ok(Expression::Chain(pairs, Box::new(left)))
    }

    fn sum(&mut self) -> Result<Expression, Slip> {
        let mut left = self.product()?;
        loop {
            let operator = if self.accept("+") {
                Operator::Plus
            } else if self.accept("-") {
                Operator::Minus
            } else {
                return Ok(left);
            };
            left = both(operator, left, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Expression, Slip> {
        let mut left = self.sign()?;
        loop {
            let operator = if self.accept("*") {
                Operator::Times
            } else if self.accept("//") {
                Operator::WholeOver
            } else if self.accept("/") {
                Operator::Over
            } else if self.accept("%") {
                Operator::Rest
            } else {
                return Ok(left);
            };
            left = both(operator, left, self.sign()?);
        }
    }

    fn sign(&mut self) -> Result<Expression, Slip> {
        if self.accept("-") {
            let inner = self.deeper(Self::sign)?;
            return Ok(Expression::Negative(Box::new(inner)));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Expression, Slip> {
        if self.accept("(") {
            let inner = self.deeper(Self::disjunction)?;
            self.deep += 1;
            let closed = self.accept(")");
            self.deep -= 1;
            return if closed { Ok(inner) } else { self.cursor.unlike("an operator or \")\"") };
        }
        let from = self.cursor.at();
        self.long += 1;
        if self.long > MAX_TERMS {
            return slip(from, format!("an assertion of more than {MAX_TERMS} numbers and names"));
        }
        if self.cursor.peek().is_some_and(|c| c.is_ascii_digit() || c == '.') {
            let digits = self.cursor.take_while(|c| c.is_ascii_digit() || c == '.');
            return match digits.parse() {
                Ok(number) => Ok(Expression::Number(number)),
                Err(_) => slip(from, format!("{} is not a number", quoted(digits))),
            };
        }
        let word = self.cursor.word();
        if let Some(at) = NAMES.iter().position(|known| known.name == word) {
            if !self.names.contains(&at) {
                self.names.push(at);
            }
            return Ok(Expression::Name(at));
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == word) {
            return Ok(Expression::Number(*value));
        }
        if word.is_empty() {
            return self.cursor.unlike("a quantity, a number, \"not\", \"-\" or \"(\"");
        }
        slip(from, unknown(word))
    }

    /// Calls `read` one level deeper.
    fn deeper(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Expression, Slip>,
    ) -> Result<Expression, Slip> {
        if self.deep >= MAX_DEPTH {
            return slip(self.cursor.at(), format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.deep += 1;
        let found = read(self);
        self.deep -= 1;
        found
    }
}

fn both(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Both(operator, Box::new((left, right)))
}

fn unknown(word: &str) -> String {
    let known = NAMES.iter().map(|name| name.name).chain(CONSTANTS.iter().map(|c| c.0));
    let near = did_you_mean(word, known);
    let names: Vec<&str> = NAMES.iter().map(|name| name.name).collect();
    format!("no quantity {}{near}; there are {}", quoted(word), names.join(", "))
}

impl Expression {
    fn value(&self, values: &[f64; NAMES.len()]) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Name(at) => values.get(*at).copied().unwrap_or(f64::NAN),
            Self::Not(inner) => truth(inner.value(values) == 0.0),
            Self::Negative(inner) => -inner.value(values),
            Self::Both(operator, sides) => {
                operator.apply(sides.0.value(values), &|| sides.1.value(values))
            }
            Self::Chain(pairs, last) => {
                let right = pairs[1..].iter().map(|(_, e)| e).chain([last.as_ref()]);
                let holds = pairs
                    .iter()
                    .zip(right)
                    .all(|((sign, a), b)| sign.holds(a.value(values), b.value(values)));
                truth(holds)
            }
        }
    }
}

impl Operator {
    fn apply(self, a: f64, b: &dyn Fn() -> f64) -> f64 {
        match self {
            Self::Or => truth(a != 0.0 || b() != 0.0),
            Self::And => truth(a != 0.0 && b() != 0.0),
            Self::Plus => a + b(),
            Self::Minus => a - b(),
            Self::Times => a * b(),
            Self::Over => a / b(),
            Self::WholeOver => (a / b()).floor(),
            Self::Rest => {
                let b = b();
                a - b * (a / b).floor()
            }
        }
    }
}

impl Comparison {
    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Equal => a == b,
            Self::Unequal => a != b,
            Self::AtMost => a <= b,
            Self::AtLeast => a >= b,
            Self::Less => a < b,
            Self::Greater => a > b,
        }
    }
}

fn truth(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> bool {
        let mut values = [0.0; NAMES.len()];
        (values[0], values[3]) = (10.0, 100_000.0);
        let block = format!(" assert {text} ");
        read_block(&block, 0, &block).unwrap().iter().all(|a| a.holds(&values))
    }

    fn refused(block: &str) -> String {
        read_block(block, 0, block).unwrap_err().message
    }

    /// Expressions have Python's meaning: its operators and their precedence.
    #[test]
    fn expressions_have_pythons_meaning() {
        for text in [
            "tcpi_snd_cwnd == 10",
            "tcpi_snd_cwnd != 11 and tcpi_rtt == 100000",
            "not tcpi_snd_cwnd < 10",
            "1 + 2 * 3 == 7",
            "(1 + 2) * 3 == 9",
            "9 <= tcpi_snd_cwnd < 11",
            "1 == 2 or 2 == 2 and 3 == 3",
            "tcpi_snd_cwnd // 3 == 3 and tcpi_snd_cwnd % 3 == 1",
            "7 / 2 == 3.5",
            "-3 < -2",
            "tcpi_ca_state == TCP_CA_Open",
            "(tcpi_snd_cwnd ==\n 10)",
            "tcpi_snd_cwnd == 10, tcpi_snd_cwnd\n assert tcpi_rtt > 0; assert 1",
            "tcpi_snd_cwnd == 10 # a comment",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in ["9 <= tcpi_snd_cwnd < 10", "tcpi_snd_cwnd", "0 / 0", "0 or 0"] {
            assert_eq!(holds(text), text == "tcpi_snd_cwnd", "{text}");
        }
    }

    /// Slips in an assertion are refused and explained.
    #[test]
    fn slips_are_explained() {
        assert!(refused(" assert tcpi_snd_cwmd == 1 ").contains("did you mean \"tcpi_snd_cwnd\""));
        assert!(refused("  ").contains("no assertion"));
        assert!(refused("print x").contains("assert EXPRESSION"));
        assert!(refused("assert 1 2").contains("an operator"));
        assert!(refused("assert (1").contains("\")\""));
        assert!(refused("assert 1.2.3").contains("not a number"));
        assert!(refused("assert ").contains("a quantity"));
        assert!(refused(&format!("assert {}1", "(".repeat(100_000))).contains("nested deeper"));
        assert!(refused(&format!("assert 1{}", " + 1".repeat(100_000))).contains("more than 500"));
        assert!(refused(&format!("assert {}1", "not ".repeat(100_000))).contains("nested deeper"));
    }
}
