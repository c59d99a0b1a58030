use sojourn_scripts::{Verdict, run};
fn main() {
    let mut counts = [0; 4];
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let dir = std::path::Path::new(&path).parent().unwrap().to_owned();
        let files = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
        let name = std::path::Path::new(&path).file_stem().unwrap().to_string_lossy().into_owned();
        match run(&text, &files) {
            Ok(Verdict::Passed) => {
                counts[0] += 1;
                println!("PASS {name}");
            }
            Ok(Verdict::NotApplicable { line, reason }) => {
                counts[1] += 1;
                println!("n/a  {name}:{line}: {reason}");
            }
            Ok(Verdict::Failed { line, expected, got }) => {
                counts[2] += 1;
                println!("FAIL {name}:{line}\n       expected {expected}\n       got      {got}");
            }
            Err(error) => {
                counts[3] += 1;
                println!("READ {name}: {error}");
            }
        }
    }
    println!("{counts:?}");
}
