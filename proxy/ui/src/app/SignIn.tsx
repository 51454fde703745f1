import { KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { answer, GET } from "../api/client";
import { RequestError, sentence } from "../api/problem";
import { queryClient } from "../api/queries";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { words } from "../language";
import { signIn, signOut, useSession } from "../session/session";
import style from "./SignIn.module.css";

const t = words.frame;

/** Asks the service whether it knows the key before the key is used for anything. */
function useSignIn() {
  const [key, setKey] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const trimmed = key.trim();
    if (trimmed === "") return setError(t.keyEmpty);
    setBusy(true);
    setError(undefined);
    try {
      await answer(GET("/v1/me", { headers: { authorization: `Bearer ${trimmed}` } }));
      signIn(trimmed);
      await queryClient.invalidateQueries();
    } catch (refusal) {
      setError(refusal instanceof RequestError && refusal.status === 401 ? t.keyRefused : sentence(refusal));
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

/** The first page of somebody who is not signed in. */
export function SignIn() {
  const form = useSignIn();
  return (
    <main className={style.page}>
      <form className={style.card} onSubmit={form.submit}>
        <h1>
          <KeyRound size={20} aria-hidden /> {t.product}
        </h1>
        <p className={style.lead}>{t.signInLead}</p>
        <KeyField form={form} />
        <Button type="submit" kind="main" isPending={form.isBusy}>
          {t.signIn}
        </Button>
      </form>
    </main>
  );
}

/** Asks for another key over the page whose key was refused. The page below keeps what was typed. */
export function SignInAgain() {
  const { refused } = useSession();
  return refused ? <SignInDialog /> : null;
}

function SignInDialog() {
  const form = useSignIn();
  return (
    <Dialog title={t.sessionEnded} isOpen isQuestion onClose={signOut}>
      <form className={style.form} onSubmit={form.submit}>
        <p>{t.sessionEndedLead}</p>
        <KeyField form={form} />
        <div className={style.actions}>
          <Button onPress={signOut}>{t.signOut}</Button>
          <Button type="submit" kind="main" isPending={form.isBusy}>
            {t.signIn}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
