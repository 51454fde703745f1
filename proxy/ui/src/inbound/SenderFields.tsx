import type { RequestError } from "../api/problem";
import { Checkbox } from "../components/Checkbox";
import { pageMessages } from "../language/pages";
import style from "./Mapping.module.css";
import { RoleField } from "./RoleField";

const t = pageMessages.inbound;

type Sender = { role: string; signed: boolean };

type Props = {
  project: string;
  sender: Sender;
  onChange: (change: Partial<Sender>) => void;
  rejection: RequestError | null | undefined;
};

/** The settings of a sender: the role for its writes, and its signature. */
export function SenderFields({ project, sender, onChange, rejection }: Props) {
  return (
    <>
      <RoleField
        project={project}
        label={t.role}
        hint={t.roleHint}
        own={t.ownRole}
        value={sender.role}
        onChange={(role) => onChange({ role })}
        error={rejection?.at("/role")}
      />
      <div className={style.choice}>
        <Checkbox isSelected={sender.signed} onChange={(signed) => onChange({ signed })}>
          {t.signedChoice}
        </Checkbox>
        <span className={style.hint}>{t.signedHint}</span>
      </div>
    </>
  );
}
