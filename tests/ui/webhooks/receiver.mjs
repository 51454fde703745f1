/** A receiver of webhooks. */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";

/** Starts a receiver. `arrived` has what was delivered; `answer` is what it answers. */
export async function startReceiver() {
  const receiver = { url: "", arrived: [], answer: { status: 204, body: "" }, close: () => {} };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    receiver.arrived.push({ headers: request.headers, body, json: JSON.parse(body) });
    response.writeHead(receiver.answer.status, { "content-type": "text/plain" }).end(receiver.answer.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${server.address().port}/hooks`;
  receiver.close = () => server.close();
  return receiver;
}

/** The signature of a delivery with a secret. */
export function signature({ headers, body }, secret) {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
