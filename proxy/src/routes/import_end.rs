//! Cancels an import that has locked a template.

use axum::http::StatusCode;
use axum::response::Response;
use keyed_errors::Code;
use serde::Deserialize;

use crate::call::Call;
use crate::database::Effect;
use crate::problem::Problem;
use crate::response;
use keyed_service::statement::{number, statement, text};

/// Terminates a session if it still runs this import transaction, and returns whether it has ended. The number 6 is the
/// lock class of imports.
const END: &str = "select pg_catalog.count(*) filter (where pg_catalog.pg_terminate_backend(l.pid, 5000)) > 0 \
    from pg_catalog.pg_locks l where l.pid = $1 and l.virtualtransaction = $2 \
    and l.locktype = 'advisory' and l.objsubid = 6 and l.granted";

/// The import that has locked a template.
#[derive(Deserialize)]
struct Importer<'a> {
    process: i32,
    transaction: &'a str,
}

/// Cancels the import. Nothing of its file is imported.
pub(crate) async fn run(mut call: Call<1>) -> Result<Response, Problem> {
    let [requested] = call.parameters(["transaction"])?;
    let [template] = call.segments();
    let row = call.ask(Effect::Write, statement!("find_import($4::text)"), &[text(template)]).await?;
    let unexpected = |error: &dyn std::error::Error| Problem::internal(format!("not an import: {error}"));
    let found: &str = row.try_get(0).map_err(|error| unexpected(&error))?;
    let Importer { process, transaction } =
        serde_json::from_str(found).map_err(|error| unexpected(&error))?;
    if requested.is_some_and(|requested| requested != transaction) {
        return Err(Problem::new(
            Code::NotFound,
            "the import has ended, and another import has locked the template".to_owned(),
        ));
    }
    // The session belongs to the proxy's login, which is allowed to terminate it. The functions of keyed are not.
    let (admitted, arguments) = (call.caller.admitted.as_ref(), [number(&process), text(&transaction)]);
    let row = call.app.database.run_for(admitted, Effect::Write, "end_import", END, &arguments).await?;
    match row.try_get(0).map_err(|error| unexpected(&error))? {
        true => Ok(response::json(StatusCode::OK, found.to_owned())),
        false => Err(Problem::new(Code::NotFound, "the import has already ended".to_owned())),
    }
}
