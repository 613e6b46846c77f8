import { expect, test } from "vitest";
import { ModelStore } from "@/features/models/model-store";
import { parseModels } from "@/protocol/model";

test("an answer that a newer one has overtaken does not bring an old state back", async () => {
  const answers: ((state: string) => void)[] = [];
  const load = () =>
    new Promise<string>((resolve) => answers.push(resolve)).then((state) =>
      parseModels({ models: [{ name: "local:tiny", title: "", state }] }),
    );
  const store = new ModelStore(load);
  const slow = store.refresh();
  const quick = store.refresh();
  answers[1]?.("ready");
  await quick;
  answers[0]?.("missing");
  await slow;
  expect(store.read().models.map((model) => model.state)).toEqual(["ready"]);
});
