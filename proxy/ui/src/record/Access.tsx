import { useQuery } from "@tanstack/react-query";
import { Check, Minus, Users } from "lucide-react";
import { useState } from "react";
import { readRoles } from "../api/administration";
import { bodyOf, GET, type Schemas } from "../api/client";
import type { RecordBody, Template } from "../api/queries";
import { Empty } from "../components/Empty";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { Select } from "../components/Select";
import { Tag } from "../components/Tag";
import { Chip } from "../filter/Chip";
import { conditionsOfScope } from "../filter/condition";
import { useSentences } from "../filter/useContext";
import { messages } from "../language";
import { useSession } from "../session/session";
import style from "./Access.module.css";
import { reasonsOf } from "./explanation";

const t = messages.record;
const list = new Intl.ListFormat("en");

type Props = { project: string; template: Template; record: RecordBody };
type Explained = Schemas["Access"];

/** For administrators: why a role can or cannot see this record. */
export function Access({ project, template, record }: Props) {
  const { key } = useSession();
  const [role, setRole] = useState<string | null>(null);
  const roles = useQuery({
    queryKey: [key, "roles"],
    queryFn: () => readRoles(project),
  });
  const explained = useQuery({
    queryKey: [key, "explain-access", record.id, role, record.updated_at],
    queryFn: () => {
      const params = { path: { id: record.id }, query: { role: role ?? "" } };
      return bodyOf(GET("/v1/entities/{id}/access", { params }));
    },
    enabled: role !== null,
  });
  if (roles.isError) return <Failure error={roles.error} retry={() => roles.refetch()} />;
  if (!roles.data) return <Skeleton />;
  if (roles.data.length === 0) return <Empty icon={Users} title={t.noRoles} />;
  return (
    <div className={style.access}>
      <p className={style.lead}>{t.accessLead}</p>
      <Select
        label={t.role}
        choices={roles.data.map(({ name }) => ({ id: name, label: name }))}
        value={role}
        onChange={setRole}
        placeholder={t.chooseRole}
      />
      {role !== null &&
        (explained.isError ? (
          <Failure error={explained.error} retry={() => explained.refetch()} />
        ) : !explained.data ? (
          <Skeleton lines={2} />
        ) : (
          <Explanation project={project} template={template} record={record} explained={explained.data} />
        ))}
    </div>
  );
}

function Explanation({
  project,
  template,
  record,
  explained,
}: {
  project: string;
  template: Template;
  record: RecordBody;
  explained: Explained;
}) {
  const { role, may, grants, sees } = explained;
  const context = useSentences(
    project,
    template.slug,
    grants.flatMap(({ scope }) => conditionsOfScope(scope)),
  );
  const reasons = reasonsOf(explained, record, context);
  return (
    <>
      <Notice kind={sees ? "done" : "attention"}>
        <strong>
          {may.length > 0 ? t.canDo(role, list.format(may.map((it) => t.privileges[it]))) : t.cannotSee(role)}
        </strong>
        {reasons.map((reason) => (
          <span key={reason} className={style.reason} dir="auto">
            {reason}
          </span>
        ))}
      </Notice>
      <h3>{t.grants}</h3>
      {grants.length === 0 ? (
        <p className={style.lead}>{t.noGrants}</p>
      ) : (
        <ul className={style.grants}>
          {grants.map((grant) => (
            <Grant
              key={`${grant.role} ${grant.target} ${grant.privilege}`}
              project={project}
              template={template}
              grant={grant}
            />
          ))}
        </ul>
      )}
    </>
  );
}

type GrantProps = { project: string; template: Template; grant: Explained["grants"][number] };

/** A grant: its privileges, its scope as a sentence, and whether it covers this record. */
function Grant({ project, template, grant }: GrantProps) {
  const conditions = conditionsOfScope(grant.scope);
  const context = useSentences(project, template.slug, conditions);
  const Icon = grant.holds ? Check : Minus;
  return (
    <li className={style.grant}>
      <span className={grant.holds ? style.holds : style.fails}>
        <Icon size={16} aria-hidden />
      </span>
      <div className={style.text}>
        <p>
          <Tag>{grant.privilege}</Tag> <span dir="auto">{grant.target}</span>{" "}
          <span className={style.quiet}>
            {t.to} {grant.role}
          </span>
        </p>
        <p className={style.scope}>
          {conditions.length === 0
            ? t.wholeScope
            : conditions.map((condition, index) => (
                <span key={index} className={style.condition}>
                  <Chip condition={condition} context={context} />
                </span>
              ))}
        </p>
        <p className={style.quiet}>{grant.holds ? t.covers : t.coversNot}</p>
      </div>
    </li>
  );
}
