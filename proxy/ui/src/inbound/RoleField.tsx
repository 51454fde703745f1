import { useRoles } from "../api/administration";
import { TextField } from "../components/Field";
import { Select } from "../components/Select";
import { pageWords } from "../language/pages";

const t = pageWords.inbound;
const OWN = "";

type Props = {
  project: string;
  value: string;
  onChange: (role: string) => void;
  error?: string | undefined;
};

/** The role that an endpoint writes as: one of those that the service lists, else its name. */
export function RoleField({ project, value, onChange, error }: Props) {
  const roles = useRoles(project);
  const names = roles.data?.map(({ name }) => name);
  if (names === undefined || (value !== OWN && !names.includes(value))) {
    return (
      <TextField label={t.role} hint={t.roleHint} value={value} onChange={onChange} error={error} isCode />
    );
  }
  const choices = [{ id: OWN, label: t.ownRole }, ...names.map((name) => ({ id: name, label: name }))];
  return <Select label={t.role} choices={choices} value={value} onChange={onChange} error={error} />;
}
