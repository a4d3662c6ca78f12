import { Budget } from '../interfaces/budget.ts';
import type { Spending } from '../interfaces/spending.ts';
import type { Tool, ToolContext, ToolPreview, ToolStep } from '../interfaces/tool.ts';
import type { ToolOutput } from '../interfaces/tool-output.ts';
import { isToolOutput, toolOutput } from '../interfaces/tool-output.ts';
import { defined } from '../values/defined.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import { runEffect } from './effect.ts';
import { HiddenTexts } from './hidden-texts.ts';
import { plain, plainFields } from './plain.ts';
import type { Ports } from './ports.ts';
import { thrownData, thrownFrom } from './thrown.ts';

/**
 * Wraps a tool so that everything it passes to the run is recorded: results, previews and progress. During a replay
 * the tool does not run, unless `liveTools` selects it. Its own argument checks always run.
 */
export function recordedTool(ports: Ports, tool: Tool): Tool {
  const { subject, validate, waitUntil, preview } = tool;
  const texts = new HiddenTexts();
  return {
    ...tool,
    // Copied by name, because the fields of a class instance can be on its prototype.
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    execute: (args, context) => execute(ports, tool, args, { context, texts }),
    ...defined({
      subject: subject?.bind(tool),
      validate: validate?.bind(tool),
      waitUntil: waitUntil?.bind(tool),
    }),
    ...(preview !== undefined && {
      preview: (args, context) =>
        previewOf(
          ports,
          tool,
          async () =>
            texts.hide(await preview.call(tool, args, { earlier: texts.show(context?.earlier) ?? [] })),
          args,
        ),
    }),
  };
}

async function execute(
  ports: Ports,
  tool: Tool,
  args: Record<string, unknown>,
  { context, texts }: { readonly context: ToolContext; readonly texts: HiddenTexts },
): Promise<unknown> {
  const { signal, idempotencyKey: call } = context;
  const name = ports.ask('tool', { tool: tool.name, call, arguments: plainFields(args) });
  let ran = false;
  return await new Promise((resolve, reject) => {
    const port = ports.open(name, {
      live: ports.isLive(tool),
      awaited: () => !signal.aborted,
      take(data) {
        if ('progress' in data) return context.progress(String(data['progress']));
        if (isObject(data['step'])) return context.step?.(data['step'] as unknown as ToolStep);
        if (isObject(data['spending'])) return record(context.budget, data['spending'] as JsonObject, ran);
        port.close();
        if (!ran && isObject(data['spent'])) spend(context.budget, data['spent'] as JsonObject);
        if ('thrown' in data) reject(thrownFrom(data['thrown']));
        else resolve(givenBy(data));
      },
      fail(error) {
        port.close();
        reject(error);
      },
      start(put) {
        ran = true;
        // Its own account shows what the tool spends.
        const budget = new Budget({}, context.budget, ({ log: _, ...spending }, tokens, usd) => {
          put({ spending: { ...plainFields(spending), charged: { tokens, usd } } }, true);
          return true;
        });
        const costs = () => costsOf(budget);
        const own: ToolContext = {
          ...context,
          approved: texts.show(context.approved),
          budget,
          progress: (text) => put({ progress: String(text) }, true),
          step: (step) => put({ step: plainFields({ ...step }) }, true),
        };
        Promise.resolve()
          .then(() => tool.execute(args, own))
          .then(outcome)
          .then(
            (data) => put({ ...data, ...costs() }),
            (thrown: unknown) => put({ thrown: thrownData(thrown), ...costs() }),
          );
      },
    });
  });
}

/** Converts the return value of a tool to data. Throws if the run could not write it as JSON either. */
function outcome(value: unknown): JsonObject {
  if (typeof value === 'function' || typeof value === 'symbol') throw unwritable(`it is a ${typeof value}`);
  if (value === undefined) return { nothing: true };
  try {
    return isToolOutput(value) ? { output: plain({ ...value }) } : { value: plain(value) };
  } catch (error) {
    throw unwritable(error instanceof Error ? error.message : String(error));
  }
}

function unwritable(why: string): Error {
  return new TypeError(`The tool returned a value that cannot be written as JSON: ${why}`);
}

function givenBy(data: JsonObject): unknown {
  const { output, value } = data;
  return isObject(output) ? toolOutput(output as unknown as ToolOutput) : value;
}

async function previewOf(
  ports: Ports,
  tool: Tool,
  run: () => Promise<ToolPreview>,
  args: Record<string, unknown>,
): Promise<ToolPreview> {
  const name = ports.ask('preview', { tool: tool.name, arguments: plainFields(args) });
  return await runEffect<ToolPreview>(ports, name, {
    run,
    write: (preview) => ({ preview: plain(preview) }),
    read: ({ preview }) => (isObject(preview) ? preview : {}),
  });
}

/** Records what the tool spent. During a replay, charges it too. */
function record(budget: Budget, { charged, ...spending }: JsonObject, ran: boolean): void {
  const { tokens = 0, usd = 0 } = ran || !isObject(charged) ? {} : charged;
  budget.spend(Number(tokens), Number(usd), spending as unknown as Spending);
}

function costsOf(budget: Budget): JsonObject {
  const spent = { turns: budget.taken('turns'), toolCalls: budget.taken('toolCalls') };
  return Object.values(spent).some((amount) => amount > 0) ? { spent } : {};
}

/** Takes from the budget again what the tool used when it was recorded. */
function spend(budget: Budget, spent: JsonObject): void {
  // Cassettes of earlier versions contain the sum of what was charged.
  budget.spend(Number(spent['tokens'] ?? 0), Number(spent['usd'] ?? 0), null);
  for (const what of ['turns', 'toolCalls'] as const)
    budget.take(what, Math.min(Number(spent[what] ?? 0), budget.left(what)));
}
