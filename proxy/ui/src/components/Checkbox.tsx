import { Check, Minus } from "lucide-react";
import type { ReactNode } from "react";
import { Checkbox as AriaCheckbox, type CheckboxProps } from "react-aria-components";
import style from "./Checkbox.module.css";

/** A checkbox. Without children it needs an `aria-label`. */
export function Checkbox({
  children,
  ...props
}: Omit<CheckboxProps, "className" | "children"> & { children?: ReactNode }) {
  return (
    <AriaCheckbox {...props} className={style.checkbox ?? ""}>
      {({ isSelected, isIndeterminate }) => (
        <>
          <span className={style.box}>
            {isIndeterminate ? (
              <Minus size={12} aria-hidden />
            ) : (
              isSelected && <Check size={12} aria-hidden />
            )}
          </span>
          {children}
        </>
      )}
    </AriaCheckbox>
  );
}
