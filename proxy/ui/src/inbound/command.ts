/** A delivery as a shell command, to try an address. */

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const SIGNING = (secret: string) => [
  `secret=${quoted(secret)}`,
  'id="msg_$(date +%s)"; at="$(date +%s)"',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it.
  'key="$(printf %s "${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d " \\n")"',
  'signature="$(printf "%s.%s.%s" "$id" "$at" "$body" |',
  '  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)"',
];

/** The command that delivers `body`, signed if there is a secret. */
export function deliveryCommand(address: string, body: string, secret: string | null): string {
  const post = `curl -X POST ${quoted(address)} -H 'Content-Type: application/json'`;
  if (secret === null) return `${post} \\\n  -d ${quoted(body)}`;
  return [
    `body=${quoted(body)}`,
    ...SIGNING(secret),
    `${post} \\`,
    '  -H "webhook-id: $id" -H "webhook-timestamp: $at" -H "webhook-signature: v1,$signature" \\',
    '  -d "$body"',
  ].join("\n");
}
