import { Eye, Plus, Users } from "lucide-react";
import { useState } from "react";
import { type Grant, type Role, useGrants, useRoles } from "../api/administration";
import { sentence } from "../api/problem";
import { useTemplates } from "../api/queries";
import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { Confirm } from "../components/Confirm";
import { type Column, DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Section } from "../components/Page";
import { Select } from "../components/Select";
import { Tag } from "../components/Tag";
import { showErrorToast, showToast } from "../components/toast";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import style from "./Access.module.css";
import { GrantDialog } from "./GrantDialog";
import { plan } from "./grantPlan";
import { regrant } from "./regrant";
import { Scope } from "./Scope";
import { viewAsRole } from "./viewAs";

const t = pageMessages.access;

type Editing = { role: string; grant: Grant | null };

/** The roles with their grants in the project. */
export function GrantsTab({ project }: { project: string }) {
  const roles = useRoles(project);
  const grants = useGrants(project);
  const [editing, setEditing] = useState<Editing | null>(null);
  const [revoking, setRevoking] = useState<Grant | null>(null);
  for (const query of [roles, grants])
    if (query.isError) return <Failure error={query.error} retry={() => query.refetch()} />;
  if (!roles.data || !grants.data) return <Skeleton lines={8} />;
  const all = grants.data;
  const known = new Set(roles.data.map(({ name }) => name));
  // A grant may belong to a role for which no key can be issued.
  const others = [...new Set(all.map(({ role }) => role))].filter((name) => !known.has(name));
  const listed: Role[] = [
    ...roles.data,
    ...others.map((name) => ({ name, login: false, admin: false, grantable: false, member_of: [] })),
  ];
  const has = ({ name }: Role) => all.some(({ role }) => role === name);
  // Only the roles that have access to this project, not all roles of the server.
  const inherits = (role: Role) => listed.some((it) => role.member_of.includes(it.name) && has(it));
  const concerned = (role: Role) => !role.admin && (has(role) || inherits(role));
  const ordered = [...listed.filter(has), ...listed.filter((role) => !has(role) && concerned(role))];
  const idle = listed.filter((role) => !ordered.includes(role) && !role.admin && role.grantable);
  const siblings = ({ role, target }: Pick<Grant, "role" | "target">) =>
    all.filter((it) => it.role === role && it.target === target);
  const inheritedBy = (name: string) => listed.find((role) => role.name === name)?.member_of.join(", ") ?? "";
  const revoke = async (grant: Grant) => {
    await regrant(project, grant.role, grant.target, siblings(grant), plan(siblings(grant), grant, null));
    showToast(t.grantRevoked(grant.role));
  };
  return (
    <div className={style.roles}>
      {idle.length > 0 && <GrantToRole roles={idle} onGrant={(role) => setEditing({ role, grant: null })} />}
      {ordered.length === 0 &&
        (idle.length === 0 ? (
          <Empty icon={Users} title={t.noRoles}>
            {t.newRoleHint}
          </Empty>
        ) : (
          <Empty icon={Users} title={t.noGrantsAtAll} isPart />
        ))}
      {ordered.map((role) => (
        <RoleGrants
          key={role.name}
          project={project}
          role={role}
          grants={all.filter((it) => it.role === role.name)}
          onEdit={(grant) => setEditing({ role: role.name, grant })}
          onRevoke={setRevoking}
        />
      ))}
      <div className={style.group}>
        <p className={style.quiet}>{t.newRoleHint}</p>
        <Code text="CREATE ROLE sales;" what="SQL" />
      </div>
      {editing && (
        <GrantDialog
          project={project}
          role={editing.role}
          grant={editing.grant}
          grants={all}
          onClose={() => setEditing(null)}
        />
      )}
      {revoking && (
        <Confirm
          title={t.revokeGrantTitle(revoking.role, revoking.target)}
          action={t.revokeGrant}
          run={() => revoke(revoking)}
          onClose={() => setRevoking(null)}
        >
          {t.revokeGrantWhat(revoking.role, privilegesText(revoking))}
          {inheritedBy(revoking.role) !== "" && ` ${t.inheritedStays(inheritedBy(revoking.role))}`}
        </Confirm>
      )}
    </div>
  );
}

/** A menu of roles that have no grant here, to grant one access. */
function GrantToRole({ roles, onGrant }: { roles: readonly Role[]; onGrant: (role: string) => void }) {
  const [role, setRole] = useState<string | null>(null);
  return (
    <div className={style.giving}>
      <Select
        label={t.idleRoles(roles.length)}
        choices={roles.map(({ name }) => ({ id: name, label: name }))}
        value={role}
        onChange={setRole}
        placeholder={t.chooseRole}
      />
      <Button icon={Plus} isDisabled={role === null} onPress={() => role !== null && onGrant(role)}>
        {t.newGrant}
      </Button>
    </div>
  );
}

const list = new Intl.ListFormat(undefined, { type: "disjunction" });

const privilegesText = ({ privileges }: Grant) => list.format(privileges.map((it) => t.privilege[it]));

type RoleProps = {
  project: string;
  role: Role;
  grants: Grant[];
  onEdit: (grant: Grant | null) => void;
  onRevoke: (grant: Grant) => void;
};

function RoleGrants({ project, role, grants, onEdit, onRevoke }: RoleProps) {
  const templates = useTemplates(project);
  const label = (target: string) => {
    const [, slug] = target.split(".");
    if (slug === undefined) return <span title={t.wholeProjectHint}>{t.wholeProject(target)}</span>;
    return <bdi title={target}>{templates.data?.find((it) => it.slug === slug)?.label ?? slug}</bdi>;
  };
  const columns: Column<Grant>[] = [
    { id: "target", width: "18%", title: t.target, cell: ({ target }) => label(target) },
    {
      id: "may",
      width: "20%",
      title: t.may,
      cell: ({ privileges, orphaned }) => (
        <div className={style.tags}>
          {privileges.map((it) => (
            <Tag key={it}>{t.privilege[it]}</Tag>
          ))}
          {orphaned && <Tag kind="attention">{t.roleGone}</Tag>}
        </div>
      ),
    },
    {
      id: "scope",
      width: "28%",
      title: t.scope,
      cell: ({ target, scope, privileges }) =>
        privileges.every((it) => it === "define") ? (
          <span className={style.quiet}>{t.noRecords}</span>
        ) : (
          <Scope project={project} template={target.split(".")[1] ?? null} scope={scope} />
        ),
    },
    {
      id: "granted",
      width: "16%",
      title: t.granted,
      cell: ({ granted_at, granted_by }) => (
        <div>
          <TimeAgo at={granted_at} />
          <span className={style.small}>{t.grantedBy(granted_by)}</span>
        </div>
      ),
    },
    {
      id: "actions",
      title: t.actions,
      isTitleHidden: true,
      cell: (grant) => (
        <>
          {!grant.orphaned && (
            <Button
              kind="quiet"
              aria-label={t.changeGrant(grant.role, grant.target)}
              onPress={() => onEdit(grant)}
            >
              {t.change}
            </Button>
          )}
          <Button
            kind="quiet"
            aria-label={t.revokeGrantNamed(grant.role, grant.target)}
            onPress={() => onRevoke(grant)}
          >
            {t.revokeGrant}
          </Button>
        </>
      ),
    },
  ];
  const inherited = role.member_of.join(", ");
  const see = () => viewAsRole(project, role.name).catch((error) => showErrorToast(sentence(error)));
  const mayUse = role.admin || role.grantable;
  return (
    <Section
      title={role.name}
      lead={
        role.admin ? t.administers : grants.length > 0 && inherited !== "" ? t.inherits(inherited) : undefined
      }
      actions={
        <>
          {mayUse && !role.admin && (grants.length > 0 || inherited !== "") && (
            <Button kind="quiet" icon={Eye} onPress={see}>
              {t.seeAs(role.name)}
            </Button>
          )}
          {role.grantable && (
            <Button icon={Plus} aria-label={t.newGrantFor(role.name)} onPress={() => onEdit(null)}>
              {t.newGrant}
            </Button>
          )}
        </>
      }
    >
      {grants.length === 0 ? (
        <p className={style.quiet}>{inherited === "" ? t.noGrants : t.noGrantsInherits(inherited)}</p>
      ) : (
        <DataTable
          label={t.roleOf(role.name)}
          columns={columns}
          rows={grants}
          rowKey={({ target, privileges }) => `${target} ${privileges}`}
          isQuiet={({ orphaned }) => orphaned}
        />
      )}
    </Section>
  );
}
