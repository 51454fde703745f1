/** The text search configurations of every PostgreSQL installation, and the one that a template uses. */
import type { Choice } from "../components/Select";
import { pageMessages } from "../language/pages";

const KNOWN = (
  "arabic armenian basque catalan danish dutch english finnish french german greek hindi hungarian indonesian irish " +
  "italian lithuanian nepali norwegian portuguese romanian russian serbian simple spanish swedish tamil turkish yiddish"
).split(" ");

export const languageChoices = (current: string): Choice[] =>
  [...new Set([...KNOWN, current])].map((id) => ({ id, label: pageMessages.template.languageName(id) }));
