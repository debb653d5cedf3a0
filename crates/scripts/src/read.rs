//! Reading a script.

use forebay_parameters::Registry;
use forebay_units::{PS_PER_S, Span, Time};

use crate::cursor::Cursor;
use crate::expression::read_block;
use crate::language::{IGNORED_CALLS, names};
use crate::numbering::Numbering;
use crate::problem::{Problem, Slip, place, quoted, slip};
use crate::script::{Action, Event, Heading, Role, Script};
use crate::segment::Segment;
use crate::settings::{Settings, as_slip};

/// The latest time that a script may name.
const MAX_TIME: Span = Span::from_s(1_000_000);

/// The most bytes that a script may write: their numbers have 32 bits.
const MAX_BYTES: u64 = u32::MAX as u64 - 1;

impl Script {
    /// Read `text`, a script that messages call `name`. `set` are `KEY=VALUE` assignments that
    /// count more than the lines at its head.
    ///
    /// # Errors
    /// The first thing that is not of the language, or that the model does not have: line, column,
    /// what was read, what is allowed.
    pub fn read(text: &str, name: &str, set: &[String]) -> Result<Self, Problem> {
        Self::read_with(text, name, set, &forebay_laws::registry())
    }

    /// Read a script as [`Script::read`], with the congestion controls that `registry` has.
    ///
    /// # Errors
    /// As that.
    pub fn read_with(
        text: &str,
        name: &str,
        set: &[String],
        registry: &Registry,
    ) -> Result<Self, Problem> {
        let problem = |slip: Slip| {
            let (line, column) = slip.at.map_or((None, 0), |at| {
                let (line, column) = place(text, at);
                (Some(line), column)
            });
            Problem { script: name.to_owned(), line, column, message: slip.message }
        };
        let mut reader = Reader {
            text,
            cursor: Cursor::new(text),
            now: Time::ZERO,
            events: Vec::new(),
            settings: Settings::default(),
            syns: Vec::new(),
            shaken: false,
        };
        reader.script().map_err(problem)?;
        reader.finish(name, set, registry).map_err(problem)
    }
}

struct Reader<'t> {
    text: &'t str,
    cursor: Cursor<'t>,
    /// The time of the last event.
    now: Time,
    events: Vec<Event>,
    settings: Settings,
    /// The SYNs of the handshake: whether the script injects it.
    syns: Vec<(bool, Segment)>,
    /// The handshake is over.
    shaken: bool,
}

impl Reader<'_> {
    fn script(&mut self) -> Result<(), Slip> {
        loop {
            self.cursor.skip()?;
            let from = self.cursor.at();
            match self.cursor.peek() {
                None => return Ok(()),
                Some('-') => self.setting(from)?,
                Some('`') => self.shell(from)?,
                _ => {
                    self.now = self.time()?;
                    self.cursor.skip()?;
                    self.event()?;
                }
            }
        }
    }

    /// `--KEY=VALUE`, up to the end of the line or a comment.
    fn setting(&mut self, from: usize) -> Result<(), Slip> {
        if !self.cursor.accept("--") {
            return self.cursor.unlike("a time such as +0.100, or --KEY=VALUE");
        }
        if !self.events.is_empty() {
            return slip(from, "a parameter behind an event; they stand at the head of a script");
        }
        let line = self.cursor.take_while(|c| c != '\n');
        let assignment = line.split("//").next().unwrap_or_default();
        let number = Some(place(self.text, from).0);
        let as_slip = |message| Slip { at: Some(from), message };
        self.settings.set(assignment.trim(), number).map_err(as_slip)
    }

    fn shell(&mut self, from: usize) -> Result<(), Slip> {
        self.cursor.accept("`");
        match self.cursor.until("`") {
            Some(_) => Ok(()),
            None => slip(from, "this command has no end; it ends with a backquote"),
        }
    }

    /// The time of an event: `+.1` after the last event, or `0.1` since the start.
    fn time(&mut self) -> Result<Time, Slip> {
        const ALLOWED: &str = "a time such as +0.100 or 0.100";
        let (start, from) = (self.cursor.clone(), self.cursor.at());
        if self.cursor.accept("*") {
            return slip(from, "\"*\" would allow any time; the tolerance is 0: name the time");
        }
        let relative = self.cursor.accept("+");
        let digits = self.cursor.take_while(|c| c.is_ascii_digit() || c == '.');
        let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
        let blank = whole.is_empty() && rest.is_empty();
        if blank || rest.contains('.') || rest.len() > 12 || whole.len() > 7 {
            return start
                .unlike(&format!("{ALLOWED}, at most {} s with 12 decimals", MAX_TIME.seconds()));
        }
        self.cursor.skip()?;
        if self.cursor.peek() == Some('~') {
            return self.cursor.unlike("an event: the tolerance is 0, and a time is one instant");
        }
        let number = |digits: &str| digits.parse::<u64>().unwrap_or(0);
        let ps = number(whole) * PS_PER_S + number(&format!("{rest:0<12}"));
        let base = if relative { self.now } else { Time::ZERO };
        let at = base + Span::from_ps(ps);
        if at < self.now {
            let last = self.now.seconds();
            return slip(
                from,
                format!("{digits} s is before the last event, which is at {last} s"),
            );
        }
        if at > Time::ZERO + MAX_TIME {
            let most = MAX_TIME.seconds();
            return slip(from, format!("{} s is too late; at most {most} s", at.seconds()));
        }
        Ok(at)
    }

    fn event(&mut self) -> Result<(), Slip> {
        let from = self.cursor.at();
        let action = if self.cursor.accept("<") {
            self.packet(true)?.map(Action::Inject)
        } else if self.cursor.accept(">") {
            self.packet(false)?.map(Action::Expect)
        } else if self.cursor.accept("%{") {
            let start = self.cursor.at();
            let Some(block) = self.cursor.until("}%") else {
                return slip(from, "this block has no end; it ends with }%");
            };
            Some(Action::Assert(read_block(self.text, start, block)?))
        } else if self.cursor.peek() == Some('`') {
            self.shell(from)?;
            None
        } else {
            self.call(from)?.map(Action::Write)
        };
        if let Some(action) = action {
            let text: Vec<&str> = self.cursor.since(from).split_whitespace().collect();
            let (at, text) = (self.now, text.join(" "));
            self.events.push(Event { at, action, text, offset: from });
        }
        Ok(())
    }

    /// Reads what stands behind `<` or `>`; `None` for what belongs to the handshake or ends the
    /// connection.
    fn packet(&mut self, injected: bool) -> Result<Option<Segment>, Slip> {
        self.cursor.skip()?;
        let from = self.cursor.at();
        let segment = Segment::read(&mut self.cursor)?;
        let opens = self.settings.has_handshake();
        if opens && segment.flags.syn {
            return match (segment.first, segment.length(), segment.ack) {
                (0, 0, None | Some(1)) => Ok(Some(segment)),
                _ => slip(from, "a SYN other than S 0:0(0) and S. 0:0(0) ack 1"),
            };
        }
        if segment.flags.syn {
            return self.syn(injected, segment, from);
        }
        let answer = segment.length() == 0 && segment.first == 1 && segment.ack == Some(1);
        if self.syns.len() == 2 && !self.shaken && answer && self.syns[0].0 == injected {
            self.shaken = true;
            return Ok(None);
        }
        self.shaken = true;
        if segment.flags.fin && !opens {
            if segment.length() > 0 {
                return slip(
                    from,
                    "FIN with data; a connection of the model has no end on the wire",
                );
            }
            return Ok(None);
        }
        if segment.ack.is_none() {
            return slip(from, "no \"ack\"; every packet but the first SYN acknowledges");
        }
        if segment.first == 0 {
            return slip(from, "sequence number 0 is that of the SYN; data begins with 1");
        }
        Ok(Some(segment))
    }

    fn syn(
        &mut self,
        injected: bool,
        segment: Segment,
        from: usize,
    ) -> Result<Option<Segment>, Slip> {
        let again = self.syns.iter().any(|(side, _)| *side == injected);
        if self.shaken || again || segment.length() > 0 {
            return slip(from, "a SYN that is not one of a handshake at the beginning");
        }
        self.syns.push((injected, segment));
        Ok(None)
    }

    /// A call of the application: the bytes that it writes, if it does.
    fn call(&mut self, from: usize) -> Result<Option<u64>, Slip> {
        let name = self.cursor.word();
        let writes = ["write", "send"].contains(&name);
        if !writes && !IGNORED_CALLS.iter().any(|ignored| ignored.what == name) {
            let known = names(&["write", "send"], IGNORED_CALLS).join(", ");
            return slip(
                from,
                format!(
                    "{}; an event is a packet (< or >), %{{ assertions }}%, or one of the \
                         calls {known}",
                    quoted(if name.is_empty() {
                        self.cursor.rest().lines().next().unwrap_or_default()
                    } else {
                        name
                    })
                ),
            );
        }
        let arguments = self.arguments(from)?;
        self.cursor.expect("=", "\"=\" and the result of the call")?;
        self.cursor.skip()?;
        let at = self.cursor.at();
        self.cursor.accept("-");
        let result = self.cursor.word().to_owned();
        if result.is_empty() {
            return self.cursor.unlike("the result of the call");
        }
        self.remarks()?;
        if !writes {
            return Ok(None);
        }
        let bytes = arguments.get(2).and_then(|text| text.parse::<u64>().ok());
        let Some(bytes) = bytes.filter(|bytes| (1..=MAX_BYTES).contains(bytes)) else {
            let read = arguments.join(", ");
            let message = format!(
                "{name}({}); the third argument is a number of bytes from 1 to {MAX_BYTES}",
                quoted(&read)
            );
            return slip(from, message);
        };
        if result != arguments[2] {
            let message = format!("{}; the model takes all {bytes} bytes", quoted(&result));
            return slip(at, message);
        }
        self.shaken = true;
        Ok(Some(bytes))
    }

    /// Reads what stands in the parentheses of a call, split at commas that are in no others.
    fn arguments(&mut self, from: usize) -> Result<Vec<String>, Slip> {
        self.cursor.expect("(", "\"(\" behind the name of a call")?;
        let (mut found, mut deep) = (vec![String::new()], 1_u32);
        while let Some(sign) = self.cursor.peek() {
            self.cursor.accept(sign.encode_utf8(&mut [0; 4]));
            match sign {
                '(' | '[' | '{' => deep += 1,
                ')' | ']' | '}' => deep -= 1,
                _ => {}
            }
            if deep == 0 {
                return Ok(found.iter().map(|text| text.trim().to_owned()).collect());
            }
            match found.last_mut() {
                Some(last) if sign != ',' || deep > 1 => last.push(sign),
                _ => found.push(String::new()),
            }
        }
        slip(from, "this call has no end; it ends with \")\"")
    }

    /// Behind a result: the name of an error and its explanation, `EAGAIN (Try again)`.
    fn remarks(&mut self) -> Result<(), Slip> {
        self.cursor.take_while(|c| c == ' ' || c == '\t');
        self.cursor.take_while(|c| c.is_ascii_uppercase());
        self.cursor.take_while(|c| c == ' ' || c == '\t');
        let from = self.cursor.at();
        if self.cursor.accept("(") && self.cursor.until(")").is_none() {
            return slip(from, "this remark has no end; it ends with \")\"");
        }
        Ok(())
    }

    fn finish(mut self, name: &str, set: &[String], registry: &Registry) -> Result<Script, Slip> {
        if let [(first, one), (_, other)] = self.syns.as_slice() {
            let (theirs, ours) = if *first { (one, other) } else { (other, one) };
            self.settings.agree(theirs, ours);
        }
        for assignment in set {
            let as_slip = |message: String| Slip { at: None, message: format!("--set {message}") };
            self.settings.set(assignment, None).map_err(as_slip)?;
        }
        let built = self.settings.build(registry).map_err(|problem| {
            let lines = self.text.split_inclusive('\n').scan(0, |at, line| {
                *at += line.len();
                Some(*at - line.len())
            });
            let at = problem.line.and_then(|line| lines.clone().nth(line as usize - 1));
            as_slip(&problem, at)
        })?;
        let mut script = Script {
            name: name.to_owned(),
            heading: Heading::read(self.text),
            role: role_of(&self.events)?,
            events: self.events,
            settings: self.settings,
            numbering: Numbering::new(built.tcp.mss.bytes()),
            text: self.text.to_owned(),
        };
        check(&mut script, &built.tcp)?;
        Ok(script)
    }
}

/// Returns the end that the script tests: data goes one way in the model.
fn role_of(events: &[Event]) -> Result<Role, Slip> {
    let (mut writes, mut arrives) = (None, None);
    for event in events {
        match &event.action {
            Action::Write(_) => writes = writes.or(Some(event.offset)),
            Action::Inject(segment) if segment.length() > 0 || segment.opens() => {
                arrives = arrives.or(Some(event.offset));
            }
            _ => {}
        }
    }
    match (writes, arrives) {
        (Some(_), None) => Ok(Role::Sender),
        (None, Some(_)) => Ok(Role::Receiver),
        (Some(one), Some(other)) => slip(
            one.max(other),
            "data in both directions; a connection of the model has a sender and a receiver, and \
             a script tests one of them",
        ),
        (None, None) => Err(Slip {
            at: None,
            message: "nothing is written and no data arrives; a script of a sender has \
                      write(4, ..., 1000) = 1000, one of a receiver < . 1:1001(1000) ack 1"
                .to_owned(),
        }),
    }
}

type Tcp = forebay_elements::tcp::TcpParameters;

/// Refuse what this end of a connection does not have.
fn check(script: &mut Script, tcp: &Tcp) -> Result<(), Slip> {
    let (role, mut written, mut ranges, mut places) = (script.role, 0_u64, Vec::new(), Vec::new());
    for event in &script.events {
        let at = event.offset;
        match &event.action {
            Action::Write(bytes) => written = written.saturating_add(*bytes),
            Action::Assert(_) if role == Role::Receiver => {
                return slip(at, "an assertion; it can ask for the state of a sender alone");
            }
            Action::Inject(segment) => {
                check_options(segment, tcp, at)?;
                if segment.flags.syn {
                    continue;
                }
                if role == Role::Receiver {
                    check_data(segment, tcp, at)?;
                    // A FIN takes a number as a byte does.
                    ranges.push((segment.first, segment.end + u64::from(segment.flags.fin)));
                    places.push(at);
                } else if segment.first != 1 {
                    return slip(
                        at,
                        "data or a number other than 1:1(0); a sender of the model \
                                     is sent acknowledgements alone",
                    );
                }
            }
            Action::Expect(segment) => check_options(segment, tcp, at)?,
            Action::Assert(_) => {}
        }
        if written > MAX_BYTES {
            return slip(at, format!("more than {MAX_BYTES} bytes are written in all"));
        }
    }
    if role == Role::Receiver {
        let refused =
            |(index, message): (usize, String)| Slip { at: places.get(index).copied(), message };
        script.numbering = Numbering::of_ranges(&ranges, tcp.mss.bytes()).map_err(refused)?;
    }
    Ok(())
}

fn check_options(segment: &Segment, tcp: &Tcp, at: usize) -> Result<(), Slip> {
    use forebay_elements::tcp::Recovery;
    if !segment.sack.is_empty() && tcp.recovery != Recovery::Sack {
        return slip(at, "a sack option, but --recovery is not sack");
    }
    if segment.timestamps.is_some() && !tcp.timestamps {
        return slip(at, "a TS option, but --timestamps is false");
    }
    Ok(())
}

fn check_data(segment: &Segment, tcp: &Tcp, at: usize) -> Result<(), Slip> {
    if segment.length() == 0 && !segment.flags.fin {
        return slip(at, "a packet without data; a receiver of the model is sent data alone");
    }
    let mss = tcp.mss.bytes();
    if segment.length() > mss {
        let length = segment.length();
        return slip(at, format!("{length} bytes of data; a segment has at most {mss} (--mss)"));
    }
    if segment.ack != Some(1) {
        return slip(at, "the receiver of the model sends no data, so that ack is always 1");
    }
    Ok(())
}
