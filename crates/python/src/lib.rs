//! The Python bindings of Sojourn, the module `sojourn._core`. They only convert; their types are
//! declared in `python/sojourn/_core.pyi`.

mod app;
mod cancel;
mod capture;
mod catalogue;
mod columns;
mod contract;
mod control;
mod decompress;
mod diff;
mod endpoint;
mod engine;
mod errors;
mod formats;
mod heap;
mod interruptible;
mod law;
mod law_objects;
mod linux;
mod ns3;
mod python_law;
#[cfg(target_os = "linux")]
mod router;
mod run;
mod scenario;
mod scenario_base;
mod script;
mod table;
mod watch;

use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    heap::return_large_blocks();
    let py = module.py();
    module.add("__version__", engine::VERSION)?;
    module.add("ScenarioError", py.get_type::<errors::ScenarioError>())?;
    module.add("Cancelled", py.get_type::<errors::Cancelled>())?;
    module.add("ControlError", py.get_type::<errors::ControlError>())?;
    module.add("AppError", py.get_type::<errors::AppError>())?;
    module.add("LawError", py.get_type::<errors::LawError>())?;
    module.add_class::<control::Ack>()?;
    module.add_class::<law::CustomLaw>()?;
    module.add_class::<law_objects::PyHead>()?;
    module.add_class::<law_objects::PyBacklog>()?;
    module.add_class::<law_objects::PyRandom>()?;
    module.add_class::<law_objects::PyEnv>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<scenario_base::ScenarioBase>()?;
    module.add_class::<cancel::Cancel>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<diff::Diff>()?;
    module.add_class::<formats::CaptureReader>()?;
    module.add_class::<decompress::Decompressor>()?;
    module.add_function(wrap_pyfunction!(errors::shortened, module)?)?;
    module.add_function(wrap_pyfunction!(watch::is_in_own_code, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_plan, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_wish, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_plan_capturing, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_tcp, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::aqm_of_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_host, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_collect, module)?)?;
    module.add_function(wrap_pyfunction!(ns3::ns3_plan, module)?)?;
    module.add_function(wrap_pyfunction!(ns3::ns3_collect, module)?)?;
    #[cfg(target_os = "linux")]
    {
        module.add_function(wrap_pyfunction!(router::router_plan, module)?)?;
        module.add_function(wrap_pyfunction!(router::router_run, module)?)?;
    }
    module.add_function(wrap_pyfunction!(capture::capture, module)?)?;
    module.add_function(wrap_pyfunction!(capture::write_captures, module)?)?;
    module.add_function(wrap_pyfunction!(diff::diff, module)?)?;
    module.add_function(wrap_pyfunction!(script::run_tcp_script, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::aqms, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::describe_aqm, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::ccs, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::tcps, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::check_aqm, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tc_import, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tc_aqm, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tc_looks_like, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tc_check, module)?)?;
    module.add_function(wrap_pyfunction!(formats::tc_export, module)?)?;
    module.add_function(wrap_pyfunction!(contract::examine_law, module)?)?;
    module.add_function(wrap_pyfunction!(contract::law_repeats, module)?)?;
    module.add_function(wrap_pyfunction!(law::library_dependencies, module)?)?;
    module.add_function(wrap_pyfunction!(endpoint::try_endpoint, module)?)?;
    module.add_function(wrap_pyfunction!(endpoint::examine_endpoint, module)?)?;
    module.add_function(wrap_pyfunction!(endpoint::endpoints, module)?)?;
    module.add_function(wrap_pyfunction!(endpoint::endpoint_process, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::schema_json, module)?)
}
