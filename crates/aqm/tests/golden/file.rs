//! The text of a golden trace, as `testdata/golden/README.md` describes it: read, or refused with a
//! sentence. No text may make the reader panic; `fuzz` tests that.

use sojourn_aqm::{Backlog, Ecn, Limit, QdiscSpec, Span, Time, units};
use toml::{Table, Value};

pub const MTU: u32 = 1514;

/// How many calls, packets and instants one step may have.
const MOST: u64 = 1_000_000;

/// A trace.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The law or discipline in its text form, which is legal.
    pub aqm: String,
    pub tolerance: Tolerance,
    pub script: Script,
}

/// The calls of a trace.
#[derive(Clone, Debug)]
pub enum Script {
    Law { idle_until: Option<Time>, steps: Vec<LawStep> },
    Discipline { steps: Vec<QueueStep> },
}

/// How far a value may be from the expected one.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
}

/// Expected variables.
pub type State = Vec<(String, f64)>;

/// A step of a law.
#[derive(Clone, Debug)]
pub enum LawStep {
    Dequeue {
        instants: Vec<Time>,
        sojourn: Span,
        queue: Backlog,
        dropped_at: Vec<Time>,
        state: State,
    },
    LearnRate {
        leaving: Vec<(u32, Span)>,
        queue: Backlog,
    },
    Update {
        inputs: Inputs,
        /// The variable and its values.
        expected: Option<(String, Vec<f64>)>,
    },
    Enqueue {
        count: u64,
        u: (f64, f64),
        queue: Backlog,
        dropped: Vec<u64>,
    },
}

/// The inputs that a law measures at its updates.
#[derive(Clone, Debug)]
pub enum Inputs {
    Sojourns(Vec<Span>),
    Backlogs(Vec<Backlog>),
}

/// A step of a discipline.
#[derive(Clone, Debug)]
pub struct QueueStep {
    pub at: Time,
    pub count: u64,
    pub every: Span,
    pub call: Call,
    pub dropped: Vec<u64>,
    pub marked: Vec<u64>,
    pub left: Option<Vec<u64>>,
    pub waited: Option<Vec<Span>>,
    pub why: Option<String>,
    pub state: State,
}

/// A call of a discipline.
#[derive(Clone, Debug)]
pub enum Call {
    Offer { flows: Vec<u64>, bytes: u32, ecn: Ecn },
    Take,
}

impl Trace {
    /// Reads a text.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn read(text: &str) -> Result<Trace, String> {
        let file: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let of = |key: &str| file.get(key).map_or(Ok(0.0), |value| number(key, value));
        let tolerance =
            Tolerance { absolute: of("tolerance")?, relative: of("relative_tolerance")? };
        if !(tolerance.absolute >= 0.0 && tolerance.relative >= 0.0) {
            return Err("a tolerance must not be negative".to_owned());
        }
        let (aqm, script) = match file.contains_key("law") {
            true => law(&file)?,
            false => discipline(&file)?,
        };
        QdiscSpec::parse(&aqm).map_err(|error| error.message)?;
        Ok(Trace { aqm, tolerance, script })
    }
}

fn law(file: &Table) -> Result<(String, Script), String> {
    let params = file.get("params").and_then(Value::as_table).ok_or("params must be a table")?;
    let param = |(name, value): (&String, &Value)| {
        let value = value.as_str().ok_or_else(|| format!("params.{name} must be text"))?;
        Ok(format!("{name}={value}"))
    };
    let params: Vec<String> = params.iter().map(param).collect::<Result<_, String>>()?;
    let colon = if params.is_empty() { "" } else { ":" };
    let (name, dialect) = (words(file, "law")?, words(file, "dialect")?);
    let aqm = format!("{name}@{dialect}{colon}{}", params.join(","));
    let idle_until = optional(file, "idle_until", span)?;
    let idle_until = idle_until.map(|span| Time::ZERO + span);
    let steps = steps(file)?.into_iter().map(law_step).collect::<Result<_, String>>()?;
    Ok((aqm, Script::Law { idle_until, steps }))
}

fn discipline(file: &Table) -> Result<(String, Script), String> {
    let steps: Vec<QueueStep> =
        steps(file)?.into_iter().map(queue_step).collect::<Result<_, String>>()?;
    let mut now = Time::ZERO;
    for step in &steps {
        if step.at < now {
            return Err("time must not run backwards from step to step".to_owned());
        }
        now = step.at + step.every.times(step.count.saturating_sub(1));
    }
    Ok((words(file, "aqm")?.to_owned(), Script::Discipline { steps }))
}

fn law_step(step: &Table) -> Result<LawStep, String> {
    match words(step, "call")? {
        "dequeue" => dequeue(step),
        "learn_rate" => {
            let sizes = whole_numbers(step, "sizes")?;
            let at = spans(step, "at")?;
            if sizes.len() != at.len() || sizes.iter().any(|&size| size > u64::from(u32::MAX)) {
                return Err(
                    "sizes must be 32 bits each, as many as there are times in at".to_owned()
                );
            }
            let leaving = sizes.into_iter().map(|size| size as u32).zip(at).collect();
            Ok(LawStep::LearnRate { leaving, queue: backlog(words(step, "backlog")?)? })
        }
        "update" => update(step),
        "enqueue" => {
            let u = numbers(step, "u")?;
            let [from, to] = u[..] else { return Err("u must be two numbers".to_owned()) };
            if !(0.0 <= from && from < to && to <= 1.0) {
                return Err("u must be two numbers in 0..1, the lower first".to_owned());
            }
            let queue = backlog(words(step, "backlog")?)?;
            let dropped = whole_numbers(step, "dropped")?;
            Ok(LawStep::Enqueue { count: count(step)?, u: (from, to), queue, dropped })
        }
        other => Err(format!("call: a law has no `{other}`")),
    }
}

fn dequeue(step: &Table) -> Result<LawStep, String> {
    let [from, until, every] = ["from", "until", "every"].map(|key| span(step, key));
    let (from, until, every) = (from?, until?, every?);
    let times = until.as_nanos().saturating_sub(from.as_nanos()) / every.as_nanos().max(1);
    if every == Span::ZERO || times >= MOST {
        return Err(format!("every must be positive, and there less than {MOST} times of it"));
    }
    let instants = core::iter::successors(Some(from), |&at| Some(at + every));
    let instants: Vec<Time> =
        instants.take_while(|&at| at < until).map(|at| Time::ZERO + at).collect();
    let sojourn = span(step, "sojourn")?;
    let dropped_at = spans(step, "dropped_at")?.into_iter().map(|at| Time::ZERO + at).collect();
    let queue = backlog(words(step, "backlog")?)?;
    Ok(LawStep::Dequeue { instants, sojourn, queue, dropped_at, state: state(step)? })
}

fn update(step: &Table) -> Result<LawStep, String> {
    let inputs = match step.contains_key("sojourns") {
        true => Inputs::Sojourns(spans(step, "sojourns")?),
        false => Inputs::Backlogs(
            texts(step, "backlogs")?.into_iter().map(backlog).collect::<Result<_, String>>()?,
        ),
    };
    let count = match &inputs {
        Inputs::Sojourns(list) => list.len(),
        Inputs::Backlogs(list) => list.len(),
    };
    let values = optional(step, "values", numbers)?;
    if values.as_ref().is_some_and(|values| values.len() != count) {
        return Err("values must be as many as there are updates".to_owned());
    }
    let expected = values.map(|values| Ok::<_, String>((words(step, "var")?.to_owned(), values)));
    Ok(LawStep::Update { inputs, expected: expected.transpose()? })
}

fn queue_step(step: &Table) -> Result<QueueStep, String> {
    let ids = |key: &str| Ok::<_, String>(optional(step, key, whole_numbers)?.unwrap_or_default());
    let call = match words(step, "call")? {
        "offer" => Call::Offer {
            flows: optional(step, "flows", whole_numbers)?.unwrap_or(vec![0]),
            bytes: optional(step, "bytes", size)?.unwrap_or(MTU),
            ecn: optional(step, "ecn", words)?.map_or(Ok(Ecn::NotEct), ecn)?,
        },
        "take" => Call::Take,
        other => return Err(format!("call: a discipline has no `{other}`")),
    };
    if matches!(&call, Call::Offer { flows, .. } if flows.is_empty()) {
        return Err("flows must name one at least".to_owned());
    }
    Ok(QueueStep {
        at: Time::ZERO + span(step, "at")?,
        count: if step.contains_key("count") { count(step)? } else { 1 },
        every: optional(step, "every", span)?.unwrap_or(Span::ZERO),
        call,
        dropped: ids("dropped")?,
        marked: ids("marked")?,
        left: optional(step, "left", whole_numbers)?,
        waited: optional(step, "waited", spans)?,
        why: optional(step, "why", words)?.map(str::to_owned),
        state: state(step)?,
    })
}

fn ecn(field: &str) -> Result<Ecn, String> {
    match field {
        "not-ect" => Ok(Ecn::NotEct),
        "ect0" => Ok(Ecn::Ect0),
        "ect1" => Ok(Ecn::Ect1),
        "ce" => Ok(Ecn::Ce),
        other => Err(format!("ecn: unknown field `{other}`")),
    }
}

fn size(step: &Table, key: &str) -> Result<u32, String> {
    let bytes = step[key].as_integer().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    bytes.ok_or_else(|| format!("{key} must be a whole number from 1, of 32 bits"))
}

fn count(step: &Table) -> Result<u64, String> {
    let count = step.get("count").and_then(Value::as_integer).and_then(|n| u64::try_from(n).ok());
    let legal = count.filter(|&count| (1..=MOST).contains(&count));
    legal.ok_or_else(|| format!("count must be a whole number from 1 to {MOST}"))
}

fn state(step: &Table) -> Result<State, String> {
    let Some(table) = step.get("state") else { return Ok(Vec::new()) };
    let table = table.as_table().ok_or("state must be a table")?;
    table.iter().map(|(name, value)| Ok((name.clone(), number(name, value)?))).collect()
}

fn steps(file: &Table) -> Result<Vec<&Table>, String> {
    let steps = file.get("step").and_then(Value::as_array).ok_or("step must be a list")?;
    let of = |step: &'_ Value| step.as_table().is_some();
    match steps.iter().all(of) {
        true => Ok(steps.iter().filter_map(Value::as_table).collect()),
        false => Err("every step must be a table".to_owned()),
    }
}

/// A key that may be missing.
fn optional<'a, T>(
    table: &'a Table,
    key: &str,
    read: impl FnOnce(&'a Table, &str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    table.contains_key(key).then(|| read(table, key)).transpose()
}

fn words<'a>(table: &'a Table, key: &str) -> Result<&'a str, String> {
    table.get(key).and_then(Value::as_str).ok_or_else(|| format!("{key} must be text"))
}

fn span(table: &Table, key: &str) -> Result<Span, String> {
    units::span(words(table, key)?).map_err(|why| format!("{key}: {why}"))
}

fn spans(table: &Table, key: &str) -> Result<Vec<Span>, String> {
    let read = |text| units::span(text).map_err(|why| format!("{key}: {why}"));
    texts(table, key)?.into_iter().map(read).collect()
}

fn list<'a>(table: &'a Table, key: &str) -> Result<&'a [Value], String> {
    let list = table.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or_else(|| format!("{key} must be a list"))
}

fn texts<'a>(table: &'a Table, key: &str) -> Result<Vec<&'a str>, String> {
    let text = |value: &'a Value| value.as_str().ok_or_else(|| format!("{key} must hold texts"));
    list(table, key)?.iter().map(text).collect()
}

fn numbers(table: &Table, key: &str) -> Result<Vec<f64>, String> {
    list(table, key)?.iter().map(|value| number(key, value)).collect()
}

fn whole_numbers(table: &Table, key: &str) -> Result<Vec<u64>, String> {
    let whole = |value: &Value| value.as_integer().and_then(|n| u64::try_from(n).ok());
    let read = |value| whole(value).ok_or_else(|| format!("{key} must hold whole numbers"));
    list(table, key)?.iter().map(read).collect()
}

fn number(key: &str, value: &Value) -> Result<f64, String> {
    let number = value.as_float().or(value.as_integer().map(|n| n as f64));
    number.filter(|n| n.is_finite()).ok_or_else(|| format!("{key} must be a number"))
}

fn backlog(text: &str) -> Result<Backlog, String> {
    let mtu = u64::from(MTU);
    let (packets, bytes) = match units::limit(text)? {
        Limit::Packets(n) => (n, n.saturating_mul(mtu)),
        Limit::Bytes(n) => (n.div_ceil(mtu), n),
    };
    let packets = u32::try_from(packets).map_err(|_| format!("backlog `{text}` is too large"))?;
    Ok(Backlog { packets, bytes, link_bytes: bytes })
}
