//! Quantities as plain numbers, for what is handed from one process of ours to another: nanoseconds and
//! bits per second. Nothing that people read or write.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sojourn_aqm::{Rate, Span};

/// A span as nanoseconds.
pub mod span {
    use super::*;

    pub fn serialize<S: Serializer>(span: &Span, out: S) -> Result<S::Ok, S::Error> {
        span.as_nanos().serialize(out)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
        u64::deserialize(from).map(Span::from_nanos)
    }
}

/// Spans.
pub mod spans {
    use super::*;

    pub fn serialize<S: Serializer>(spans: &[Span], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(spans.iter().map(|span| span.as_nanos()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Span>, D::Error> {
        let nanos = Vec::<u64>::deserialize(from)?;
        Ok(nanos.into_iter().map(Span::from_nanos).collect())
    }
}

/// Spans, each with an amount.
pub mod amounts {
    use super::*;

    pub fn serialize<S: Serializer>(rows: &[(Span, u64)], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(rows.iter().map(|(at, amount)| (at.as_nanos(), amount)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(Span, u64)>, D::Error> {
        let rows = Vec::<(u64, u64)>::deserialize(from)?;
        Ok(rows.into_iter().map(|(at, amount)| (Span::from_nanos(at), amount)).collect())
    }
}

/// A rate as bits per second.
pub mod rate {
    use super::*;

    pub fn serialize<S: Serializer>(rate: &Rate, out: S) -> Result<S::Ok, S::Error> {
        rate.as_bps().serialize(out)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Rate, D::Error> {
        u64::deserialize(from).map(Rate::from_bps)
    }
}

/// Rates.
pub mod rates {
    use super::*;

    pub fn serialize<S: Serializer>(rates: &[Rate], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(rates.iter().map(|rate| rate.as_bps()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Rate>, D::Error> {
        Ok(Vec::<u64>::deserialize(from)?.into_iter().map(Rate::from_bps).collect())
    }
}

/// What is shared, by its content.
pub mod shared {
    use std::sync::Arc;

    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(
        held: &Arc<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(held, out)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}
