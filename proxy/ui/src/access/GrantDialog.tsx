import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Grant } from "../api/administration";
import { bodyOf, inProject, POST } from "../api/client";
import { RequestError } from "../api/problem";
import { useTemplates } from "../api/queries";
import { Button } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { Choices } from "../components/Choices";
import { Dialog } from "../components/Dialog";
import { Rejection } from "../components/Field";
import { Failure, Notice, OtherFailure } from "../components/Notice";
import { RequiredNote } from "../components/Required";
import { Select } from "../components/Select";
import { showToast } from "../components/toast";
import { type Condition, conditionsOfScope } from "../filter/condition";
import { errorsOfFilters } from "../filter/errors";
import { FilterBar } from "../filter/FilterBar";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import { useSession } from "../session/session";
import style from "./Access.module.css";
import { PRIVILEGES, type Privilege, plan } from "./grantPlan";
import { regrant } from "./regrant";

const t = pageMessages.access;

type Props = {
  project: string;
  role: string;
  /** The grant to change; null creates one. */
  grant: Grant | null;
  /** All grants in the project. */
  grants: readonly Grant[];
  onClose: () => void;
};

/** Edits the privileges of a role on a template or a whole project, and the records that they cover. */
export function GrantDialog({ project, role, grant, grants, onClose }: Props) {
  const templates = useTemplates(project);
  const [target, setTarget] = useState(grant?.target ?? null);
  const [chosen, setChosen] = useState<Privilege[]>(grant?.privileges ?? ["read"]);
  const [conditions, setConditions] = useState<Condition[]>(() => conditionsOfScope(grant?.scope));
  const [extent, setExtent] = useState<"all" | "some">(conditions.length > 0 ? "some" : "all");
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const template = target?.split(".")[1] ?? null;
  const privileges = PRIVILEGES.filter((it) => chosen.includes(it));
  const isScoped = extent === "some";
  const scope = isScoped ? { filters: conditions } : null;
  const siblings = grants.filter((it) => it.role === role && it.target === target);
  const steps = plan(siblings, grant, { privileges, scope });
  const isComplete = target !== null && privileges.length > 0 && (!isScoped || conditions.length > 0);
  const save = async () => {
    if (target === null) return;
    setRunning(true);
    try {
      await regrant(project, role, target, siblings, steps);
      showToast(t.grantSaved(role));
      onClose();
    } catch (error) {
      setError(error);
      setRunning(false);
    }
  };
  const rejection = error instanceof RequestError ? error : null;
  const errors = errorsOfFilters(error);
  return (
    <Dialog
      title={grant === null ? t.newGrantFor(role) : t.changeGrant(role, grant.target)}
      isOpen
      isQuestion
      width="wide"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button kind="main" onPress={save} isDisabled={isRunning || !isComplete}>
            {grant === null ? t.grant : t.saveGrant}
          </Button>
        </>
      }
    >
      {grant === null && (
        <Select
          label={t.target}
          isRequired
          placeholder={t.chooseTarget}
          choices={[
            { id: project, label: t.wholeProject(project), hint: t.wholeProjectHint },
            ...(templates.data ?? []).map(({ slug, label }) => ({
              id: `${project}.${slug}`,
              label: label ?? slug,
            })),
          ]}
          value={target}
          onChange={(next) => {
            setTarget(next);
            setConditions([]);
          }}
          error={rejection?.at("/target")}
        />
      )}
      {grant === null && <RequiredNote />}
      <fieldset className={style.privileges}>
        <legend>{t.may}</legend>
        {PRIVILEGES.map((it) => {
          const [name, hint] = t.privilegeChoices[it];
          return (
            <div key={it}>
              <Checkbox
                isSelected={chosen.includes(it)}
                onChange={(isChosen) =>
                  setChosen(isChosen ? [...chosen, it] : chosen.filter((other) => other !== it))
                }
              >
                {name}
              </Checkbox>
              <small>{hint}</small>
            </div>
          );
        })}
        {privileges.length === 0 && <Rejection>{t.noPrivilegeChosen}</Rejection>}
        {rejection?.at("/privileges") && <Rejection>{rejection.at("/privileges")}</Rejection>}
      </fieldset>
      {target !== null && (
        <>
          <Choices
            label={t.scope}
            choices={[
              { id: "all", label: t.scopes.all },
              { id: "some", label: t.scopes.some },
            ]}
            value={extent}
            onChange={setExtent}
          />
          {isScoped && (
            <div className={style.indent}>
              <FilterBar
                key={target}
                project={project}
                template={template}
                value={conditions}
                onChange={setConditions}
                errors={errors}
              />
              {conditions.length === 0 ? (
                <p className={style.quiet}>{t.noConditionYet}</p>
              ) : (
                template !== null && (
                  <Coverage project={project} template={template} conditions={conditions} />
                )
              )}
            </div>
          )}
        </>
      )}
      {steps.some(({ kind }) => kind === "revoke") && <Notice kind="attention">{t.narrows}</Notice>}
      <OtherFailure error={error} fields={["/target", "/privileges", "/scope/filters/", "/filters/"]} />
    </Dialog>
  );
}

/** How many records currently match the conditions. */
function Coverage(props: { project: string; template: string; conditions: Condition[] }) {
  const { project, template } = props;
  const { key } = useSession();
  const [conditions, setConditions] = useState(props.conditions);
  useEffect(() => {
    const timer = setTimeout(() => setConditions(props.conditions), 300);
    return () => clearTimeout(timer);
  }, [props.conditions]);
  const total = useQuery({
    queryKey: [key, "coverage", project, template, conditions],
    queryFn: async () => {
      const ask = async (filters: Condition[]) => {
        const found = await bodyOf(
          POST("/v1/entities/search/{template}", {
            params: { path: { template }, header: inProject(project) },
            body: { filters: filters as never, limit: 1, count: "exact", fields: [] },
          }),
        );
        return found.total ?? 0;
      };
      const [matching, all] = await Promise.all([ask(conditions), ask([])]);
      return { matching, all };
    },
    retry: false,
  });
  if (total.isError) return <Failure error={total.error} />;
  return (
    <p className={style.quiet} aria-live="polite">
      {total.data ? t.covers(total.data.matching, total.data.all) : " "}
    </p>
  );
}
