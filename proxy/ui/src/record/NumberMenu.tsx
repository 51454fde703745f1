import { Plus } from "lucide-react";
import { useState } from "react";
import { Dialog, DialogTrigger, Popover } from "react-aria-components";
import { useAttempt } from "../api/attempt";
import type { Json } from "../api/json";
import type { RecordBody } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { messages } from "../language";
import { NumberEditor } from "../value/NumberEditor";
import style from "./Details.module.css";
import { errorOf } from "./errors";
import { addTo } from "./store";

const t = messages.record;

type Props = { record: RecordBody; label: string; slug: string; onAdded: () => void };

/** Adds to a number rather than setting it, so that amounts added by other users at the same time are kept. */
export function NumberMenu({ record, label, slug, onAdded }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [amount, setAmount] = useState<Json | undefined>(null);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const attempt = useAttempt();
  const cannotBeAdded = amount == null || typeof amount === "string";
  const add = async () => {
    if (isBusy || cannotBeAdded) return;
    setBusy(true);
    setError(undefined);
    try {
      if (!(await addTo(record.id, slug, { $inc: amount }, attempt))) return;
      setOpen(false);
      setAmount(null);
      onAdded();
    } catch (rejection) {
      setError(errorOf(rejection, slug));
    } finally {
      setBusy(false);
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
                // Edits during the request are ignored, so the form shows the amount that was sent.
                if (isBusy) return;
                setAmount(next);
                attempt.renew();
                setError(undefined);
              }}
              error={error}
              autoFocus
            />
            <p className={style.hint}>{t.addHint}</p>
            <Button type="submit" kind="main" isPending={isBusy} isDisabled={cannotBeAdded}>
              {t.addToNumber}
            </Button>
          </form>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
