import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { type ApiKey, readAdministrationAgain } from "../api/administration";
import { bodyOf, DELETE, inProject } from "../api/client";
import { useMe } from "../api/queries";
import { Button } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { type Column, DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Tag } from "../components/Tag";
import { showToast } from "../components/toast";
import { relativeTime } from "../format/moment";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import style from "./Access.module.css";
import { IssueKey } from "./IssueKey";
import { type KeyState, keyState } from "./keyState";

const t = pageMessages.access;

/** The API keys, active ones first. */
export function KeysTab({ project, keys }: { project: string; keys: readonly ApiKey[] }) {
  const me = useMe(project);
  const [isIssuing, setIssuing] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const [showsEnded, setShowsEnded] = useState(false);
  const own = me.data?.key?.id;
  const newestFirst = [...keys].sort((a, b) => b.id - a.id);
  const active = newestFirst.filter((key) => keyState(key) === "active");
  const ended = newestFirst.filter((key) => keyState(key) !== "active");
  const revoke = async ({ id, label }: ApiKey) => {
    await bodyOf(
      DELETE("/v1/api-keys/{id}", { params: { path: { id: String(id) }, header: inProject(project) } }),
    );
    showToast(t.revoked(label || t.keyId(id)));
    await readAdministrationAgain();
  };
  const issue = (
    <Button kind="main" icon={Plus} onPress={() => setIssuing(true)}>
      {t.issueKey}
    </Button>
  );
  const rows = showsEnded ? [...active, ...ended] : active;
  return (
    <div className={style.stack}>
      <div className={style.bar}>
        {ended.length > 0 && (
          <Button kind="quiet" onPress={() => setShowsEnded(!showsEnded)}>
            {showsEnded ? t.hideEnded : t.showEnded(ended.length)}
          </Button>
        )}
        <span className={style.end}>{issue}</span>
      </div>
      {rows.length === 0 ? (
        <Empty icon={KeyRound} title={t.noKeys}>
          {t.noKeysHint}
        </Empty>
      ) : (
        <DataTable
          label={t.keys}
          columns={columns(own, setRevoking)}
          rows={rows}
          rowKey={({ id }) => id}
          isQuiet={(key) => keyState(key) !== "active"}
        />
      )}
      {isIssuing && <IssueKey project={project} onClose={() => setIssuing(false)} />}
      {revoking && (
        <Confirm
          title={t.revokeTitle(revoking.label || t.keyId(revoking.id))}
          action={t.revokeKey}
          run={() => revoke(revoking)}
          onClose={() => setRevoking(null)}
        >
          {t.revokeWhat(revoking.role, revoking.last_used_at && relativeTime(revoking.last_used_at))}
          {revoking.id === own && <> {t.revokeOwn}</>}
        </Confirm>
      )}
    </div>
  );
}

function columns(own: number | undefined, revoke: (key: ApiKey) => void): Column<ApiKey>[] {
  const time = (at: string | null) =>
    at === null ? <span className={style.quiet}>{t.never}</span> : <TimeAgo at={at} />;
  return [
    {
      id: "label",
      title: t.label,
      cell: ({ id, label }) => (
        <>
          <bdi className={style.name}>{label || <span className={style.quiet}>{t.noLabel}</span>}</bdi>{" "}
          {id === own && <Tag>{t.thisKey}</Tag>}
          <span className={style.small}>{t.keyId(id)}</span>
        </>
      ),
    },
    { id: "state", title: t.state, cell: (key) => <State state={keyState(key)} /> },
    { id: "role", title: t.role, cell: ({ role }) => <bdi>{role}</bdi> },
    {
      id: "projects",
      title: t.projects,
      cell: ({ projects }) => projects?.join(", ") ?? t.allProjects,
    },
    { id: "created", title: t.created, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    { id: "expires", title: t.expires, cell: ({ expires_at }) => time(expires_at) },
    { id: "used", title: t.lastUsed, cell: ({ last_used_at }) => time(last_used_at) },
    {
      id: "actions",
      title: t.actions,
      isTitleHidden: true,
      cell: (key) =>
        keyState(key) !== "revoked" && (
          <Button
            kind="quiet"
            aria-label={t.revokeNamed(key.label || t.keyId(key.id))}
            onPress={() => revoke(key)}
          >
            {t.revoke}
          </Button>
        ),
    },
  ];
}

const KINDS = { active: "good", revoked: "plain", expired: "plain", orphaned: "attention" } as const;

function State({ state }: { state: KeyState }) {
  return <Tag kind={KINDS[state]}>{t.states[state]}</Tag>;
}
