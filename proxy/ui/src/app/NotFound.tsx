import { SearchX } from "lucide-react";
import { useLocation } from "wouter";
import { useMe } from "../api/queries";
import { Button } from "../components/Button";
import { Empty } from "../components/Empty";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import { RoleBar } from "./Frame";
import style from "./Home.module.css";
import { SignInAgain } from "./SignIn";
import { endSession } from "./session";

const t = messages.frame;

/** The page for an address whose project does not exist or is not accessible with this key. */
export function NoProject() {
  const [, navigate] = useLocation();
  const me = useMe(null);
  return (
    <main className={style.alone}>
      <RoleBar />
      <Empty
        icon={SearchX}
        title={t.noProject}
        action={
          <div className={style.ways}>
            <Button onPress={endSession}>{t.signOut}</Button>
            <Button kind="main" onPress={() => navigate(addresses.home())}>
              {t.toStart}
            </Button>
          </div>
        }
      >
        {t.noProjectHint(me.data?.role)}
      </Empty>
      <SignInAgain />
    </main>
  );
}

export function NotFound() {
  return (
    <Empty icon={SearchX} title={messages.frame.notFound}>
      {messages.frame.notFoundHint}
    </Empty>
  );
}
