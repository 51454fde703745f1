import type { Json } from "../api/json";
import type { Attribute, RecordBody } from "../api/queries";
import { Button } from "../components/Button";
import { Notice } from "../components/Notice";
import { messages } from "../language";
import { useReference } from "../value/references";
import { Value } from "../value/Value";
import { ChangeAuthors } from "./ChangeBar";
import style from "./Details.module.css";
import { fieldOf } from "./merge";

const t = messages.record;

type Props = {
  project: string;
  attribute: Attribute;
  record: RecordBody;
  mine: Json;
  onMine: () => void;
  onTheirs: () => void;
};

/** A conflict with another user in the edited field: both values, and the choice between them. */
export function Conflict({ project, attribute, record, mine, onMine, onTheirs }: Props) {
  const { slug } = attribute;
  return (
    <div className={style.contradiction}>
      <Notice kind="attention">
        {t.conflict} <ChangeAuthors project={project} record={record} fields={[slug]} />
      </Notice>
      <dl className={style.both}>
        <dt>{t.theirs}</dt>
        <dd>
          <Value
            project={project}
            attribute={attribute}
            value={fieldOf(record, slug)}
            verbose={record.attribute_values?.[slug]}
            fit="whole"
          />
        </dd>
        <dt>{t.mine}</dt>
        <dd>
          <NamedValue project={project} attribute={attribute} value={mine} />
        </dd>
      </dl>
      <div className={style.choice}>
        <Button onPress={onTheirs}>{t.takeTheirs}</Button>
        <Button kind="main" onPress={onMine}>
          {t.takeMine}
        </Button>
      </div>
    </div>
  );
}

/** A value without the name of its target, such as one from the history. */
export function NamedValue({
  project,
  attribute,
  value,
}: {
  project: string;
  attribute: Attribute;
  value: Json;
}) {
  const template = attribute.template ?? "";
  const isReference = attribute.type === "reference" && typeof value === "string";
  const target = useReference(project, template, isReference ? value : null);
  const verbose = target.data && {
    value: target.data.id,
    display: target.data.name,
    template_slug: template,
  };
  return <Value project={project} attribute={attribute} value={value} verbose={verbose} fit="whole" />;
}
