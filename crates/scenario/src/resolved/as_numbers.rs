//! Serialises quantities as numbers (nanoseconds and bits per second) for messages between our own
//! processes. Texts for people are in `document::quantities`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sojourn_aqm::{Ecn, Rate, Span};

/// A span as nanoseconds.
pub(super) mod span {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(span: &Span, out: S) -> Result<S::Ok, S::Error> {
        span.as_nanos().serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
        u64::deserialize(from).map(Span::from_nanos)
    }
}

/// A span or none.
pub(super) mod optional_span {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(span: &Option<Span>, out: S) -> Result<S::Ok, S::Error> {
        span.map(Span::as_nanos).serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Span>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Span::from_nanos))
    }
}

/// Spans.
pub(super) mod spans {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(spans: &[Span], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(spans.iter().map(|span| span.as_nanos()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Span>, D::Error> {
        let nanos = Vec::<u64>::deserialize(from)?;
        Ok(nanos.into_iter().map(Span::from_nanos).collect())
    }
}

/// Spans and the times from which they hold.
pub(super) mod spans_at {
    use sojourn_aqm::Time;

    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        rows: &[(Time, Span)],
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.collect_seq(rows.iter().map(|(at, span)| (at.as_nanos(), span.as_nanos())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(Time, Span)>, D::Error> {
        let rows = Vec::<(u64, u64)>::deserialize(from)?;
        let read = |(at, span)| (Time::from_nanos(at), Span::from_nanos(span));
        Ok(rows.into_iter().map(read).collect())
    }
}

/// Spans, each paired with an amount.
pub(super) mod amounts {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        rows: &[(Span, u64)],
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.collect_seq(rows.iter().map(|(at, amount)| (at.as_nanos(), amount)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(Span, u64)>, D::Error> {
        let rows = Vec::<(u64, u64)>::deserialize(from)?;
        Ok(rows.into_iter().map(|(at, amount)| (Span::from_nanos(at), amount)).collect())
    }
}

/// A rate as bits per second.
pub(super) mod rate {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(rate: &Rate, out: S) -> Result<S::Ok, S::Error> {
        rate.as_bps().serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Rate, D::Error> {
        u64::deserialize(from).map(Rate::from_bps)
    }
}

/// Rates.
pub(super) mod rates {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(rates: &[Rate], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(rates.iter().map(|rate| rate.as_bps()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Rate>, D::Error> {
        Ok(Vec::<u64>::deserialize(from)?.into_iter().map(Rate::from_bps).collect())
    }
}

/// The ECN field as its two bits.
pub(super) mod ecn {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(ecn: &Ecn, out: S) -> Result<S::Ok, S::Error> {
        (*ecn as u8).serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Ecn, D::Error> {
        match u8::deserialize(from)? {
            0 => Ok(Ecn::NotEct),
            1 => Ok(Ecn::Ect1),
            2 => Ok(Ecn::Ect0),
            3 => Ok(Ecn::Ce),
            other => Err(serde::de::Error::custom(format!("{other} is not an ECN field"))),
        }
    }
}

/// A shared value, serialised as its content.
pub(super) mod shared {
    use std::sync::Arc;

    use super::*;

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        shared: &Arc<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(shared, out)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}
