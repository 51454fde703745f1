import { ChevronDown, ChevronUp } from "lucide-react";
import type { RefObject } from "react";
import { IconButton } from "../components/Button";
import { messages } from "../language";

const t = messages.record;

export type Step = "previous" | "next";
export type Steps = Record<Step, (() => void) | null>;

const ICONS = { previous: ChevronUp, next: ChevronDown };
const KEYS = { previous: "k", next: "j" };

/** Buttons that open the previous and the next record of the list. */
export function StepButtons({ steps, pressed }: { steps: Steps; pressed: RefObject<Step | null> }) {
  return (["previous", "next"] as const).map((step) => (
    <IconButton
      key={step}
      icon={ICONS[step]}
      label={`${t[step]} (${KEYS[step]})`}
      data-step={step}
      isDisabled={steps[step] === null}
      onPress={() => {
        pressed.current = step;
        steps[step]?.();
      }}
    />
  ));
}
