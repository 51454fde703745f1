import { ChevronLeft, Plus, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { Button, IconButton } from "../components/Button";
import { messages } from "../language";
import { ConditionForm, type Pending } from "./ConditionForm";
import { type AllOf, type AnyOf, type Condition, isAllOf, isAnyOf } from "./condition";
import { type Draft, draftOf, newDraft } from "./draft";
import { FieldChoice } from "./FieldChoice";
import { JsonForm } from "./JsonForm";
import style from "./operand.module.css";
import { simple } from "./operators";
import { type Context, hasForm, sentence } from "./sentence";

const t = messages.filter;

type Group = AnyOf | AllOf;

type Props = {
  project: string;
  context: Context;
  /** Null for a new one. */
  condition: Condition | null;
  pending: Pending;
  onDone: (condition: Condition) => void;
  onRemove?: (() => void) | undefined;
  /** The kind of the group that contains the condition. */
  within?: "or" | "and" | undefined;
};

type Stage = { at: "field" } | { at: "form"; draft: Draft } | { at: "group"; group: Group } | { at: "json" };

function firstStage(condition: Condition | null, { fields }: Context, within: Props["within"]): Stage {
  if (condition === null) return { at: "field" };
  if (!hasForm(condition, fields, within !== undefined)) return { at: "json" };
  if (isAnyOf(condition) || isAllOf(condition)) return { at: "group", group: condition };
  const field = fields.find(simple(condition)?.field ?? "");
  const draft = field && draftOf(condition, field);
  return draft ? { at: "form", draft } : { at: "json" };
}

/** Edits one condition: first its attribute, then operator and value; or a group; or JSON. */
export function ConditionEditor({ project, context, condition, pending, within, ...props }: Props) {
  const [stage, setStage] = useState(() => firstStage(condition, context, within));
  const { onDone, onRemove } = props;

  if (stage.at === "field") {
    const other: Group = within === "or" ? { and: [] } : { or: [] };
    return (
      <FieldStage
        context={context}
        pending={pending}
        onChoose={(field) => setStage({ at: "form", draft: newDraft(field) })}
        group={{
          label: within === "or" ? t.groupAll : t.group,
          choose: () => setStage({ at: "group", group: other }),
        }}
      />
    );
  }
  if (stage.at === "form")
    return (
      <ConditionForm
        project={project}
        context={context}
        initial={stage.draft}
        pending={pending}
        onDone={onDone}
        onChooseField={() => setStage({ at: "field" })}
        onRemove={onRemove}
      />
    );
  if (stage.at === "group")
    return (
      <GroupForm
        project={project}
        context={context}
        group={stage.group}
        pending={pending}
        onDone={onDone}
        onRemove={onRemove}
      />
    );
  return (
    condition && <JsonForm condition={condition} pending={pending} onDone={onDone} onRemove={onRemove} />
  );
}

type FieldStageProps = Parameters<typeof FieldChoice>[0];

function FieldStage({
  context,
  pending,
  ...props
}: Omit<FieldStageProps, "fields"> & { context: Context; pending: Pending }) {
  useEffect(() => {
    pending.current = null;
  });
  return <FieldChoice fields={context.fields} {...props} />;
}

type GroupProps = Omit<Props, "condition" | "within"> & { group: Group };

/** A group of conditions of which any or all must match. */
function GroupForm({ project, context, group, pending, onDone, onRemove }: GroupProps) {
  const isAny = isAnyOf(group);
  const [parts, setParts] = useState(isAny ? group.or : group.and);
  const [open, setOpen] = useState<number | null>(parts.length === 0 ? 0 : null);
  const inner = useRef<(() => Condition | null) | null>(null);
  const title = isAny ? t.group : t.groupAll;

  const replaced = (part: Condition) => {
    const next = [...parts];
    next[open ?? next.length] = part;
    return next;
  };
  const made = (of: Condition[]): Condition | null => {
    if (of.length < 2) return of[0] ?? null;
    return isAny ? { or: of } : { and: of };
  };
  useEffect(() => {
    pending.current = () => {
      const part = open === null ? null : (inner.current?.() ?? null);
      const isChanged = part !== null || parts !== (isAny ? group.or : group.and);
      return isChanged ? made(part === null ? parts : replaced(part)) : null;
    };
  });
  const whole = made(parts);

  if (open !== null)
    return (
      <div className={style.nested}>
        <header className={style.groupHead}>
          <IconButton icon={ChevronLeft} label={t.back} size="small" onPress={() => setOpen(null)} />
          <h3>{title}</h3>
        </header>
        <ConditionEditor
          key={open}
          project={project}
          context={context}
          condition={parts[open] ?? null}
          pending={inner}
          within={isAny ? "or" : "and"}
          onDone={(part) => {
            inner.current = null;
            setParts(replaced(part));
            setOpen(null);
          }}
          onRemove={
            open < parts.length
              ? () => {
                  setParts(parts.filter((_, at) => at !== open));
                  setOpen(null);
                }
              : undefined
          }
        />
      </div>
    );
  return (
    <div className={style.form}>
      <header className={style.groupHead}>
        <h3>{title}</h3>
      </header>
      <ul className={style.parts}>
        {parts.map((part, at) => {
          const text = sentence(part, context);
          return (
            <li key={`${at} ${text}`} className={style.member}>
              <span className={style.word}>
                {at === 0 ? "" : isAny ? t.sentence.orWord : t.sentence.andWord}
              </span>
              <AriaButton className={style.sentence ?? ""} onPress={() => setOpen(at)}>
                <span dir="auto">{text}</span>
              </AriaButton>
              <IconButton
                icon={X}
                size="small"
                label={t.remove(text)}
                onPress={() => setParts(parts.filter((_, it) => it !== at))}
              />
            </li>
          );
        })}
      </ul>
      {parts.length === 0 && <p className={style.note}>{t.groupEmpty}</p>}
      <footer className={style.foot}>
        <Button kind="quiet" icon={Plus} onPress={() => setOpen(parts.length)} autoFocus={parts.length < 2}>
          {t.addToGroup}
        </Button>
        <span className={style.gap} />
        {onRemove && (
          <Button kind="quiet" onPress={onRemove}>
            {t.removeThis}
          </Button>
        )}
        <Button
          kind="main"
          isDisabled={whole === null}
          autoFocus={parts.length > 1}
          onPress={() => whole && onDone(whole)}
        >
          {t.apply}
        </Button>
      </footer>
    </div>
  );
}
