//! What texts become, and what is said of them.

use sojourn_formats::tc::{TcImport, TcWish, read, scenario};

/// The scenario of a text, with a rate for lines that have none.
pub fn attempted(text: &str) -> Result<TcImport, String> {
    let wish =
        TcWish { name: "t".to_owned(), rate: Some("50mbit".to_owned()), ..TcWish::default() };
    read(text).and_then(|setup| scenario(&setup, &wish)).map_err(|error| error.to_string())
}

/// The scenario of a text that is legal.
pub fn imported(text: &str) -> TcImport {
    attempted(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Each text gives all parts, in its scenario or its list of what is unknown.
pub fn expect(cases: &[(&str, &[&str])]) {
    for (text, parts) in cases {
        let import = imported(text);
        let all = import.toml.clone() + &import.unknown.join("\n");
        for part in *parts {
            assert!(all.contains(part), "`{part}` is not in the import of\n{text}\n{all}");
        }
    }
}

/// Each text is refused, with that part in the message.
pub fn refused(cases: &[(&str, &str)]) {
    for (text, part) in cases {
        match attempted(text) {
            Ok(import) => panic!("{text} became\n{}", import.toml),
            Err(error) => assert!(error.contains(part), "`{part}` is not in `{error}` of\n{text}"),
        }
    }
}
