import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton, Disclosure, DisclosurePanel, Heading } from "react-aria-components";
import type { Template } from "../api/queries";
import { CopyButton } from "../components/CopyButton";
import { Notice } from "../components/Notice";
import { messages } from "../language";
import { isEmptyValue } from "../value/text";
import { Ago } from "./ChangeBar";
import style from "./Details.module.css";
import { FieldRow } from "./FieldRow";
import { KeyCard } from "./KeyCard";
import { fieldOf, KEY } from "./merge";
import type { Shown } from "./store";

const t = messages.record;

type Props = { project: string; template: Template; shown: Shown; mayEdit: boolean; isReader: boolean };

/** The key and the attributes of a record. Empty attributes are collapsed. */
export function Details({ project, template, shown, mayEdit, isReader }: Props) {
  const { record, changed } = shown;
  const isEmpty = (slug: string) => isEmptyValue(fieldOf(record, slug));
  // A field that was shown stays in place, even if it becomes empty.
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set());
  const filled = template.attributes.filter(({ slug }) => !isEmpty(slug) || kept.has(slug));
  const missing = filled.filter(({ slug }) => !kept.has(slug));
  if (missing.length > 0) setKept(new Set([...kept, ...missing.map(({ slug }) => slug)]));
  const empty = template.attributes.filter((it) => !filled.includes(it));
  const rows = (attributes: Template["attributes"]) =>
    attributes.map((attribute) => (
      <FieldRow
        key={attribute.slug}
        project={project}
        record={record}
        attribute={attribute}
        mayEdit={mayEdit}
        isChanged={changed.includes(attribute.slug)}
      />
    ));
  return (
    <div className={style.details} data-fields>
      {isReader && (
        <Notice>
          {t.readOnly} {t.readOnlyHint}
        </Notice>
      )}
      <KeyCard
        project={project}
        template={template.slug}
        record={record}
        mayEdit={mayEdit}
        isChanged={changed.includes(KEY)}
      />
      <div className={style.rows}>{rows(filled)}</div>
      {empty.length > 0 && (
        <Disclosure className={style.fold ?? ""}>
          <Heading level={3} className={style.foldHead}>
            <AriaButton slot="trigger" className={style.foldButton ?? ""}>
              <ChevronRight size={14} aria-hidden />
              {t.empties(empty.length)}
            </AriaButton>
          </Heading>
          <DisclosurePanel>
            <div className={style.rows}>{rows(empty)}</div>
          </DisclosurePanel>
        </Disclosure>
      )}
      <dl className={style.facts}>
        {record.created_at && (
          <div>
            <dt>{t.created}</dt>
            <dd>
              <Ago at={record.created_at} />
            </dd>
          </div>
        )}
        {record.updated_at && (
          <div>
            <dt>{t.updated}</dt>
            <dd>
              <Ago at={record.updated_at} />
            </dd>
          </div>
        )}
        <div>
          <dt>{t.id}</dt>
          <dd>
            <code>{record.id}</code> <CopyButton text={record.id} what={t.id.toLowerCase()} />
          </dd>
        </div>
      </dl>
    </div>
  );
}
