//! The official Standard Webhooks libraries accept deliveries and reject modified ones.

use super::{create, service_with};
use harness::{Delivery, Receiver, run_node, run_python};
use serde_json::{Value, json};

const PYTHON: &str = r#"
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
for case in json.loads(sys.argv[1]):
    try:
        Webhook(case["secret"]).verify(case["body"], case["headers"])
        print("accepted")
    except WebhookVerificationError as error:
        print("refused")
"#;

const NODE: &str = r#"
import { Webhook, WebhookVerificationError } from "standardwebhooks";
for (const { secret, body, headers } of JSON.parse(process.argv[2])) {
  try {
    new Webhook(secret).verify(body, headers);
    console.log("accepted");
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log("refused");
  }
}
"#;

/// Two deliveries, before and after the rotation of the secret, and the secrets.
async fn rotated() -> (Vec<Delivery>, [String; 2]) {
    let receiver = Receiver::start().await;
    let service = service_with(&[]).await;
    let made = create(&service, "shop", &receiver.url("/"), json!({"include_record": true})).await;
    service.upsert("a", json!({"name": "Zoë \"the\" 1st\n"})).await.expect(201);
    receiver.until_delivered(1).await;
    let rotated = service.patch("/webhook-endpoints/shop", json!({"rotate_secret": true})).await.expect(200);
    service.upsert("b", json!({"visits": 12345678901234567890_u64})).await.expect(201);
    let secret = |endpoint: &Value| endpoint["secret"].as_str().expect("a secret").to_owned();
    (receiver.until_delivered(2).await, [secret(&made), secret(&rotated)])
}

/// The inputs for a library, and the expected results.
async fn cases() -> (String, Vec<&'static str>) {
    let (deliveries, [old, new]) = rotated().await;
    let case = |secret: &str, body: &str, deliveries: &Delivery| {
        let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"];
        let headers = headers.map(|name| (name.to_owned(), json!(deliveries.headers[name])));
        json!({"secret": secret, "body": body, "headers": Value::Object(headers.into_iter().collect())})
    };
    let [first, second] = [&deliveries[0], &deliveries[1]];
    let cases = json!([
        case(&old, &first.body, first),
        case(&old, &second.body, second),
        case(&new, &second.body, second),
        case(&new, &first.body, first),
        case(&new, &second.body.replace("12345678901234567890", "1"), second),
        case(&new, &second.body, first),
    ]);
    let expected = vec!["accepted", "accepted", "accepted", "refused", "refused", "refused"];
    (cases.to_string(), expected)
}

#[tokio::test]
async fn python_library_accepts_deliveries() {
    let (cases, expected) = cases().await;
    let responses = run_python(&["standardwebhooks==1.1.0"], PYTHON, &[&cases]);
    assert_eq!(responses.lines().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn node_library_accepts_deliveries() {
    let (cases, expected) = cases().await;
    let responses = run_node(&["standardwebhooks@1.0.0"], NODE, &[&cases]);
    assert_eq!(responses.lines().collect::<Vec<_>>(), expected);
}
