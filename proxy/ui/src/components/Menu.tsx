import { Check, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import {
  Menu as AriaMenu,
  Header,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Separator,
} from "react-aria-components";
import style from "./Select.module.css";

export type Action =
  /** `why`: the reason why the action is disabled. */
  | { id: string; label: string; icon?: LucideIcon; isDisabled?: boolean; why?: string; run: () => void }
  | Choices
  | "separator";

/** A single choice. The menu marks the current one and stays open unless the choice navigates. */
export type Choices = {
  id: string;
  title: string;
  options: readonly { id: string; label: string }[];
  value: string;
  closes?: boolean;
  onChange: (id: string) => void;
};

/** A menu of actions. The first child is the button that opens it. */
export function Menu({
  label,
  actions,
  placement = "bottom end",
  children,
}: {
  label: string;
  actions: Action[];
  placement?: "bottom start" | "bottom end";
  children: ReactNode;
}) {
  return (
    <MenuTrigger>
      {children}
      <Popover className={style.popover ?? ""} placement={placement}>
        <AriaMenu aria-label={label} className={style.list ?? ""}>
          {actions.map((action, index) =>
            action === "separator" ? (
              <Separator key={index} className={style.separator ?? ""} />
            ) : "options" in action ? (
              <ChoiceSection key={action.id} choices={action} />
            ) : (
              <MenuItem
                key={action.id}
                id={action.id}
                textValue={action.label}
                onAction={action.run}
                isDisabled={action.isDisabled ?? false}
                className={style.item ?? ""}
              >
                <span>
                  {action.label}
                  {action.why !== undefined && <small>{action.why}</small>}
                </span>
                {action.icon && <action.icon size={14} aria-hidden />}
              </MenuItem>
            ),
          )}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}

function ChoiceSection({ choices }: { choices: Choices }) {
  return (
    <MenuSection
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[choices.value]}
      onSelectionChange={(keys) => {
        const [id] = keys === "all" ? [] : keys;
        if (id !== undefined) choices.onChange(String(id));
      }}
    >
      <Header className={style.heading ?? ""}>{choices.title}</Header>
      {choices.options.map((option) => (
        <MenuItem
          key={option.id}
          id={option.id}
          textValue={option.label}
          shouldCloseOnSelect={choices.closes ?? false}
          className={style.item ?? ""}
        >
          {({ isSelected }) => (
            <>
              <span dir="auto">{option.label}</span>
              {isSelected && <Check size={14} aria-hidden />}
            </>
          )}
        </MenuItem>
      ))}
    </MenuSection>
  );
}
