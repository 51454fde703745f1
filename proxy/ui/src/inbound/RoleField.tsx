import { useRoles } from "../api/administration";
import { TextField } from "../components/Field";
import { Select } from "../components/Select";

const OWN = "";

type Props = {
  project: string;
  label: string;
  hint: string;
  /** The meaning of an empty field. */
  own: string;
  value: string;
  onChange: (role: string) => void;
  error?: string | undefined;
};

/** The role of an endpoint: chosen from the roles that the service lists, or typed. */
export function RoleField({ project, label, hint, own, value, onChange, error }: Props) {
  const roles = useRoles(project);
  const names = roles.data?.map(({ name }) => name);
  if (names === undefined || (value !== OWN && !names.includes(value))) {
    return <TextField label={label} hint={hint} value={value} onChange={onChange} error={error} isCode />;
  }
  const choices = [{ id: OWN, label: own }, ...names.map((name) => ({ id: name, label: name }))];
  return <Select label={label} choices={choices} value={value} onChange={onChange} error={error} />;
}
