/** A receiver of webhooks. */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";

/** Starts a receiver. `arrived` contains the deliveries; `response` is sent for each of them. */
export async function startReceiver() {
  const receiver = { url: "", arrived: [], response: { status: 204, body: "" }, close: () => {} };
  const server = createServer(async (request, reply) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    receiver.arrived.push({ headers: request.headers, body, json: JSON.parse(body) });
    reply.writeHead(receiver.response.status, { "content-type": "text/plain" }).end(receiver.response.body);
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
