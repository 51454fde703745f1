import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps, Tooltip, TooltipTrigger } from "react-aria-components";
import { messages } from "../language";
import style from "./Button.module.css";

type Kind = "main" | "plain" | "quiet" | "danger";

type Props = Omit<ButtonProps, "children" | "className"> & {
  kind?: Kind;
  icon?: LucideIcon;
  children: ReactNode;
};

/**
 * A button with text. `main` is the main action of a page or dialog, `danger` deletes.
 *
 * A busy button keeps the focus and cannot be pressed. React Aria would announce it by an id reference, which dangles
 * after the button is removed, for example when a dialog closes.
 */
export function Button({ kind = "plain", icon: Icon, children, isPending, onPress, type, ...props }: Props) {
  const isBusy = isPending === true;
  return (
    <>
      <AriaButton
        {...props}
        {...(isBusy ? { "aria-disabled": true, "data-pending": true } : onPress && { onPress })}
        {...(type && { type: isBusy ? "button" : type })}
        className={`${style.button} ${style[kind]}`}
      >
        {Icon && <Icon size={16} aria-hidden />}
        {children}
      </AriaButton>
      {isPending !== undefined && (
        <span className="visually-hidden" role="status">
          {isBusy && messages.components.busy}
        </span>
      )}
    </>
  );
}

type IconProps = Omit<ButtonProps, "children" | "className"> & {
  icon: LucideIcon;
  /** The name of the action, for screen readers and shown on hover and focus. */
  label: string;
  size?: "small" | "normal";
  /** Whether the toggle is on. */
  isOn?: boolean;
};

/** A button with only an icon. Its name is its tooltip. */
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
