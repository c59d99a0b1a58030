//! Routes as written: `1 to last`, `all to 3`, `each`.

use super::Shape;

const FORMS: &str = "write `1 to last`, `all to 1` or `each`";

/// The origin and destination of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Route {
    /// From one place to another.
    Pair(Place, Place),
    /// From all places to one.
    AllTo(Place),
    /// The pairs that the topology names.
    Each,
}

/// A place of a topology.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// By number, from 1.
    Number(u32),
    /// The place with the largest number.
    Last,
}

impl Route {
    /// Reads a route.
    pub(super) fn parse(text: &str) -> Result<Route, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["each"] => Ok(Route::Each),
            ["all", "to", to] => Ok(Route::AllTo(place(text, to)?)),
            [from, "to", to] => Ok(Route::Pair(place(text, from)?, place(text, to)?)),
            _ => Err(format!("`{text}` is not a route; {FORMS}")),
        }
    }

    /// Its pairs of places, at least one, each with a path.
    pub(super) fn pairs(self, shape: &dyn Shape) -> Result<Vec<(u32, u32)>, String> {
        match self {
            Route::Each => Ok(shape.each()),
            Route::AllTo(to) => {
                let to = to.number(shape)?;
                let others = (1..=shape.places()).filter(|&from| from != to);
                let pairs: Vec<(u32, u32)> = others
                    .map(|from| (from, to))
                    .filter(|&(from, to)| shape.path_count(from, to) > 0)
                    .collect();
                match pairs.is_empty() {
                    true => Err(format!("no link leads to {to}; two_way = true adds links")),
                    false => Ok(pairs),
                }
            }
            Route::Pair(from, to) => {
                let (from, to) = (from.number(shape)?, to.number(shape)?);
                if from == to {
                    return Err(format!("begins and ends at {from}; name two places"));
                }
                match shape.path_count(from, to) {
                    0 => {
                        Err(format!("no link leads from {from} to {to}; two_way = true adds links"))
                    }
                    _ => Ok(vec![(from, to)]),
                }
            }
        }
    }
}

impl Place {
    fn number(self, shape: &dyn Shape) -> Result<u32, String> {
        let places = shape.places();
        match self {
            Place::Last => Ok(places),
            Place::Number(number) if (1..=places).contains(&number) => Ok(number),
            Place::Number(number) => Err(format!("{number} is not from 1 to {places}")),
        }
    }
}

fn place(text: &str, word: &str) -> Result<Place, String> {
    match (word, word.parse()) {
        ("last", _) => Ok(Place::Last),
        (_, Ok(number)) => Ok(Place::Number(number)),
        (_, Err(_)) => Err(format!("`{text}` is not a route; {FORMS}")),
    }
}
