/** The ICU collations for widespread languages, and the one that a template uses. */
import type { Choice } from "../components/Select";
import { pageMessages } from "../language/pages";

const KNOWN =
  "und C ar bg ca cs da de de-CH el en es et eu fi fr he hi hr hu id is it ja ko lt lv nb nl pl pt ro ru sk sl sr sv th tr uk vi zh";

export const collationChoices = (current: string): Choice[] =>
  [...new Set([...KNOWN.split(" "), current])].map((id) => ({
    id,
    label: pageMessages.template.collationName(id),
  }));
