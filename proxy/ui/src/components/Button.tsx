import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps, Tooltip, TooltipTrigger } from "react-aria-components";
import style from "./Button.module.css";

type Kind = "main" | "plain" | "quiet" | "danger";

type Props = Omit<ButtonProps, "children" | "className"> & {
  kind?: Kind;
  icon?: LucideIcon;
  children: ReactNode;
};

/** A button with words. `main` is the one action of a place, `danger` deletes. */
export function Button({ kind = "plain", icon: Icon, children, ...props }: Props) {
  return (
    <AriaButton {...props} className={`${style.button} ${style[kind]}`}>
      {Icon && <Icon size={16} aria-hidden />}
      {children}
    </AriaButton>
  );
}

type IconProps = Omit<ButtonProps, "children" | "className"> & {
  icon: LucideIcon;
  /** The name of the action, read aloud and shown on hover and focus. */
  label: string;
  size?: "small" | "normal";
  /** Whether what the button switches is on. */
  isOn?: boolean;
};

/** A button with an icon alone. Its name is its tooltip. */
export function IconButton({ icon: Icon, label, size = "normal", isOn, ...props }: IconProps) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton
        {...props}
        aria-label={label}
        aria-pressed={isOn}
        className={`${style.icon} ${style[size]} ${isOn ? style.on : ""}`}
      >
        <Icon size={size === "small" ? 14 : 16} aria-hidden />
      </AriaButton>
      <Tooltip className={style.tooltip} offset={6}>
        {label}
      </Tooltip>
    </TooltipTrigger>
  );
}
