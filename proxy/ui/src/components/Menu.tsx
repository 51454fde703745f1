import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover, Separator } from "react-aria-components";
import style from "./Select.module.css";

export type Action =
  | { id: string; label: string; icon?: LucideIcon; isDisabled?: boolean; run: () => void }
  | "separator";

/** Actions behind a button. The first child is the button. */
export function Menu({
  label,
  actions,
  children,
}: {
  label: string;
  actions: Action[];
  children: ReactNode;
}) {
  return (
    <MenuTrigger>
      {children}
      <Popover className={style.popover ?? ""} placement="bottom end">
        <AriaMenu aria-label={label} className={style.list ?? ""}>
          {actions.map((action, place) =>
            action === "separator" ? (
              <Separator key={place} />
            ) : (
              <MenuItem
                key={action.id}
                id={action.id}
                textValue={action.label}
                onAction={action.run}
                isDisabled={action.isDisabled ?? false}
                className={style.item ?? ""}
              >
                <span>{action.label}</span>
                {action.icon && <action.icon size={14} aria-hidden />}
              </MenuItem>
            ),
          )}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
