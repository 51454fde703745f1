import { BookOpen, KeyRound } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { Link } from "wouter";
import { RequestError, sentence } from "../api/problem";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import { useSession } from "../session/session";
import style from "./SignIn.module.css";
import { endSession, enter, returnToMyself } from "./session";

const t = messages.frame;

/** The hint that the service shows on the sign-in page (KEYED_SIGN_IN_HINT). */
const hint = () => document.querySelector<HTMLMetaElement>('meta[name="keyed-sign-in-hint"]')?.content;

/** Checks the key with the service before its first use. */
function useSignIn() {
  const [key, setKey] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const trimmed = key.trim();
    if (trimmed === "") return setError(t.keyEmpty);
    if (/[^\x21-\x7e]/.test(trimmed)) return setError(t.keyRejected);
    setBusy(true);
    setError(undefined);
    try {
      await enter(trimmed);
    } catch (rejection) {
      setError(
        rejection instanceof RequestError && rejection.status === 401 ? t.keyRejected : sentence(rejection),
      );
    } finally {
      setBusy(false);
    }
  }
  return { key, setKey, error, isBusy, submit };
}

function KeyField({ form }: { form: ReturnType<typeof useSignIn> }) {
  return (
    <TextField
      label={t.apiKey}
      type="password"
      autoComplete="off"
      autoFocus
      isCode
      value={form.key}
      onChange={form.setKey}
      error={form.error}
      hint={t.apiKeyHint}
    />
  );
}

/** The first page of a user who is not signed in. */
export function SignIn() {
  const form = useSignIn();
  const hintText = hint();
  useEffect(() => {
    document.title = `${t.signIn} · ${t.product}`;
  }, []);
  return (
    <main className={style.page}>
      <form className={style.card} onSubmit={form.submit}>
        <h1>
          <KeyRound size={20} aria-hidden /> {t.product}
        </h1>
        <p className={style.lead}>{t.signInLead}</p>
        {hintText && <p className={style.hint}>{hintText}</p>}
        <KeyField form={form} />
        <Button type="submit" kind="main" isPending={form.isBusy}>
          {t.signIn}
        </Button>
        <Link href={addresses.reference()} className={style.reference ?? ""}>
          <BookOpen size={14} aria-hidden /> {t.readReference}
        </Link>
      </form>
    </main>
  );
}

/** Asks for another key in a dialog over the page, which keeps its unsaved text. */
export function SignInAgain() {
  const { rejected } = useSession();
  return rejected ? <SignInDialog /> : null;
}

function SignInDialog() {
  const form = useSignIn();
  const { own, role } = useSession();
  return (
    <Dialog title={t.sessionEnded} isOpen isQuestion onClose={endSession}>
      <form className={style.form} onSubmit={form.submit}>
        <p>{role === null ? t.sessionEndedLead : t.roleEndedLead(role)}</p>
        <KeyField form={form} />
        <div className={style.actions}>
          <Button onPress={endSession}>{t.signOut}</Button>
          {own !== null && <Button onPress={returnToMyself}>{t.seeAsMyself}</Button>}
          <Button type="submit" kind="main" isPending={form.isBusy}>
            {t.signIn}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
