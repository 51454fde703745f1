import { type Attribute, useTemplate } from "../api/queries";
import { Select } from "../components/Select";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { KEY, type Matching } from "./columns";

const t = pageMessages.files;

type Props = {
  project: string;
  attribute: Attribute | undefined;
  matching: Matching;
  setMatching: (matching: Matching) => void;
};

/** How a file identifies the targets of a reference: by external key or by a text attribute. */
export function MatchBy({ project, attribute, matching, setMatching }: Props) {
  const target = useTemplate(project, attribute?.template ?? "");
  const strings = (target?.attributes ?? []).filter(({ type }) => type === "string" || type === "dimension");
  if (!attribute || strings.length === 0) return null;
  const { [attribute.slug]: chosen = KEY, ...others } = matching;
  return (
    <Select
      label={t.matchBy}
      choices={[
        { id: KEY, label: t.externalKey },
        ...strings.map((it) => ({ id: it.slug, label: attributeLabel(it), hint: it.slug })),
      ]}
      value={chosen}
      onChange={(slug) => setMatching(slug === KEY ? others : { ...others, [attribute.slug]: slug })}
    />
  );
}
