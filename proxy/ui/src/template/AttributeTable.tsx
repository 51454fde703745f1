import { Check, MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import { Button as PlainButton } from "react-aria-components";
import type { Json } from "../api/json";
import { isLosslessNumber } from "../api/json";
import type { Attribute, Template } from "../api/queries";
import { IconButton } from "../components/Button";
import { DataTable } from "../components/DataTable";
import { Menu } from "../components/Menu";
import { Tag } from "../components/Tag";
import { attributeLabel } from "../format/label";
import { exactText } from "../format/number";
import { pageMessages } from "../language/pages";
import style from "./template.module.css";

const t = pageMessages.template;

type Props = {
  template: Template;
  templates: Template[];
  /** Missing if the definition is read-only. */
  edit?: (attribute: Attribute) => void;
  drop?: (attribute: Attribute) => void;
};

/** The attributes, in order. */
export function AttributeTable({ template, templates, edit, drop }: Props) {
  const label = (slug: string) =>
    attributeLabel(templates.find((it) => it.slug === slug) ?? { slug, label: null });
  return (
    <DataTable<Attribute & { position: number }>
      label={t.attributesTable}
      rows={template.attributes.map((it, at) => ({ ...it, position: at + 1 }))}
      rowKey={({ id }) => id}
      columns={[
        { id: "place", title: t.position, cell: ({ position }) => position },
        {
          id: "label",
          title: t.attribute,
          cell: (it) => (
            <>
              {edit ? (
                <PlainButton className={style.name ?? ""} onPress={() => edit(original(template, it))}>
                  <span dir="auto">{attributeLabel(it)}</span>
                </PlainButton>
              ) : (
                <span dir="auto">{attributeLabel(it)}</span>
              )}
              {it.slug === template.display && <Tag>{t.isDisplay}</Tag>}
            </>
          ),
        },
        { id: "slug", title: t.slug, cell: ({ slug }) => <span className={style.code}>{slug}</span> },
        { id: "type", title: t.type, cell: (it) => <Type attribute={it} label={label} /> },
        { id: "required", title: t.required, cell: ({ required }) => <Tick isOn={required} /> },
        {
          id: "indexed",
          title: t.indexed,
          cell: ({ indexed, type }) => <Tick isOn={indexed || type === "reference"} />,
        },
        { id: "default", title: t.default, cell: ({ default: value }) => shown((value ?? null) as Json) },
        ...(edit && drop
          ? [
              {
                id: "actions",
                title: t.actions,
                isTitleHidden: true,
                cell: (it: Attribute) => (
                  <Menu
                    label={t.actionsOf(attributeLabel(it))}
                    actions={[
                      { id: "edit", label: t.edit, icon: Pencil, run: () => edit(original(template, it)) },
                      "separator",
                      { id: "drop", label: t.drop, icon: Trash2, run: () => drop(original(template, it)) },
                    ]}
                  >
                    <IconButton icon={MoreHorizontal} label={t.actionsOf(attributeLabel(it))} size="small" />
                  </Menu>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

const original = (template: Template, { id }: Attribute) =>
  template.attributes.find((it) => it.id === id) as Attribute;

function Type({ attribute, label }: { attribute: Attribute; label: (slug: string) => string }) {
  const { type, template, options } = attribute;
  const values = options?.map((it) => it.label || it.value).join(", ");
  return (
    <>
      <span dir="auto">{template ? t.toTemplate(t.types[type], label(template)) : t.types[type]}</span>
      {options && (
        <div className={style.quiet} title={values} dir="auto">
          {values && values.length < 60 ? values : t.optionsCount(options.length)}
        </div>
      )}
    </>
  );
}

function Tick({ isOn }: { isOn: boolean }) {
  if (!isOn) return null;
  return (
    <>
      <Check size={16} aria-hidden />
      <span className="visually-hidden">{t.yes}</span>
    </>
  );
}

function shown(value: Json): string {
  if (value === null) return "";
  if (typeof value === "number" || isLosslessNumber(value)) return exactText(value);
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.map(shown).join(", ") : JSON.stringify(value);
}
