import { Plus } from "lucide-react";
import { useState } from "react";
import { Dialog, DialogTrigger, Popover } from "react-aria-components";
import type { Json } from "../api/json";
import { Button, IconButton } from "../components/Button";
import { words } from "../language";
import { NumberEditor } from "../value/NumberEditor";
import style from "./Details.module.css";
import { faultOf } from "./faults";

const t = words.record;

type Props = { label: string; slug: string; onAdd: (amount: Json) => Promise<void> };

/** Adds to a number rather than setting it, so that what others add at the same time is kept. */
export function NumberMenu({ label, slug, onAdd }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [amount, setAmount] = useState<Json | undefined>(null);
  const [error, setError] = useState<string>();
  const add = async () => {
    try {
      await onAdd(amount ?? null);
      setOpen(false);
      setAmount(null);
    } catch (refusal) {
      setError(faultOf(refusal, slug));
    }
  };
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <IconButton icon={Plus} label={t.addLabel(label)} size="small" />
      <Popover className={style.popover ?? ""} placement="bottom end">
        <Dialog className={style.adding ?? ""} aria-label={t.addLabel(label)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void add();
            }}
          >
            <NumberEditor
              project=""
              attribute={{ slug, type: "number", label, required: true }}
              label={t.addLabel(label)}
              value={amount}
              onChange={(next) => {
                setAmount(next);
                setError(undefined);
              }}
              error={error}
              autoFocus
            />
            <p className={style.hint}>{t.addHint}</p>
            <Button type="submit" kind="main" isDisabled={amount == null || typeof amount === "string"}>
              {t.addToNumber}
            </Button>
          </form>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
