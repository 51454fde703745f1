//! Loads the SQL declarations of the extension, in order.

use pgrx::extension_sql_file;

extension_sql_file!("../../sql/functions/internal.sql", name = "internal");
extension_sql_file!("../../sql/functions/text_index.sql", name = "text_index", requires = ["internal"]);
extension_sql_file!("../../sql/functions/owner.sql", name = "owner", requires = ["text_index"]);
extension_sql_file!("../../sql/functions/template.sql", name = "template", requires = ["owner"]);
extension_sql_file!("../../sql/functions/record.sql", name = "record", requires = ["template"]);
extension_sql_file!("../../sql/functions/embedding.sql", name = "embedding", requires = ["record"]);
extension_sql_file!("../../sql/functions/search.sql", name = "search", requires = ["embedding"]);
extension_sql_file!("../../sql/functions/access.sql", name = "access", requires = ["search"]);
extension_sql_file!("../../sql/functions/view.sql", name = "view", requires = ["access"]);
extension_sql_file!("../../sql/functions/inbound.sql", name = "inbound", requires = ["view"]);
extension_sql_file!("../../sql/functions/http.sql", name = "http", requires = ["inbound"]);
extension_sql_file!("../../sql/functions/idempotency.sql", name = "idempotency", requires = ["http"]);
extension_sql_file!("../../sql/functions/embedding_queue.sql", name = "embedding_queue", requires = ["http"]);
extension_sql_file!("../../sql/functions/quota.sql", name = "quota", requires = ["idempotency"]);
extension_sql_file!("../../sql/functions/job.sql", name = "job", requires = ["http"]);
extension_sql_file!("../../sql/functions/administration.sql", name = "administration", requires = ["job"]);
extension_sql_file!("../../sql/functions/checksum.sql", name = "checksum", requires = ["administration"]);
extension_sql_file!("../../sql/functions/measurements.sql", name = "measurements", requires = ["checksum"]);
extension_sql_file!("../../sql/functions/statistics.sql", name = "statistics", requires = ["measurements"]);
