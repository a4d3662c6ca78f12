import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const noObject =
  'is not assignable to type \'"The parameters of a tool must be an object: use z.object({ … })"\'.';

/** The message of each mistake: the last line of compiler output, which is the most specific. */
const messages: Readonly<Record<string, string>> = {
  'a tool without a description': "Property 'description' is missing in type",
  'a misspelled option of a tool':
    "'efect' does not exist in type 'ToolDefinition<{ city: string; }, FieldSchemas, \"weather\", { city: string; }>'. Did you mean to write 'effect'?",
  'the name of another library for the schema': "'inputSchema' does not exist in type 'ToolDefinition<",
  'a zod type that is not called': "Type '{ (params?: string | $ZodStringParams | undefined): ZodString;",
  'a schema that is not an object': noObject,
  'a schema of a list': noObject,
  'a schema of several objects': noObject,
  'an unknown effect': "Type '\"write\"' is not assignable to type 'ToolEffect'.",
  'an argument that the schema does not have': "Property 'town' does not exist on type '{ city: string; }'.",
  'an argument that a record of schemas does not have':
    "Property 'town' does not exist on type '{ city: string; }'.",
  'an argument used as another type':
    "Argument of type 'string' is not assignable to parameter of type 'number'.",
  'an executor without an agent': "Property 'agent' is missing in type",
  'a misspelled option of an executor':
    "'tool' does not exist in type 'ExecutorOptions<Tool<string, Record<string, unknown>>>'. Did you mean to write 'tools'?",
  'a tool instead of an array of tools':
    "Type 'Tool<\"weather\", { city: string; }>' is missing the following properties from type 'readonly Tool<",
  'a misspelled option of a tool written as an object':
    "'efect' does not exist in type 'Tool<string, Record<string, unknown>>'. Did you mean to write 'effect'?",
  'an unknown limit': "'turn' does not exist in type 'Limits'. Did you mean to write 'turns'?",
  'a gate that returns a boolean': "Type 'boolean' is not assignable to type '\"allow\" | ",
  'a gate that returns an unknown word': 'Type \'"yes"\' is not assignable to type \'"allow" | ',
  'a denial without a message':
    "Property 'message' is missing in type '{ type: \"deny\"; }' but required in type 'Deny'.",
  'a misspelled option of a run':
    "'sessionID' does not exist in type 'RunOptions<unknown>'. Did you mean to write 'sessionId'?",
  'output that is read without checking the status': "'result.output' is possibly 'undefined'.",
  'a field of the output that the schema does not have':
    "Property 'town' does not exist on type '{ city: string; }'.",
  'a result that is not awaited':
    "Property 'status' does not exist on type 'Run<unknown, Tool<\"weather\", { city: string; }>>'.",
  'an unknown status': 'and \'"completed"\' have no overlap.',
  'an unknown type of event': 'and \'"tool_start"\' have no overlap.',
  'an unknown tool in an event': 'the types \'"weather"\' and \'"wether"\' have no overlap.',
  'an argument of an event that the tool does not have':
    "Property 'town' does not exist on type '{ readonly city: string; }'.",
  'an unknown decision': 'Type \'"yes"\' is not assignable to type \'"allow" | "deny"\'.',
};

const folder = fileURLToPath(new URL('fixtures/types', import.meta.url));
const source = readFileSync(join(folder, 'mistakes.ts'), 'utf8').split('\n');

/** Returns the name of the mistake that contains a line of mistakes.ts. */
function mistakeAt(line: number): string {
  const names = source.slice(0, line).flatMap((text) => /^ {2}'(.+)': \(/.exec(text)?.[1] ?? []);
  return names.at(-1) ?? 'no mistake';
}

/** Compiles the fixtures and returns the output for each mistake and for all other code. */
async function compile(compiler: string): Promise<Record<string, string[]>> {
  const manifest = createRequire(import.meta.url).resolve(`${compiler}/package.json`);
  const program = join(dirname(manifest), 'bin', 'tsc');
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [program, '-p', folder, '--pretty', 'false'], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  const found: Record<string, string[]> = {};
  let name = 'no mistake';
  for (const text of output.split('\n').filter((line) => line !== '')) {
    const place = /^(.+?)\((\d+),\d+\): /.exec(text);
    if (place !== null) name = place[1]?.endsWith('mistakes.ts') ? mistakeAt(Number(place[2])) : text;
    found[name] = [...(found[name] ?? []), text];
  }
  return found;
}

describe.each(['typescript-5', 'typescript-6', 'typescript'])('a program compiled with %s', (compiler) => {
  it('type-checks valid code, and reports one error of at most three lines for each mistake', async () => {
    const found = await compile(compiler);
    expect(Object.keys(found).sort(), 'errors anywhere else').toEqual(Object.keys(messages).sort());
    for (const [name, lines] of Object.entries(found)) {
      expect(
        lines.filter((line) => line.includes(': error TS')),
        name,
      ).toHaveLength(1);
      expect(lines.length, name).toBeLessThanOrEqual(3);
      expect(lines.at(-1), name).toContain(messages[name]);
    }
  });
});

it('every mistake has an expected message', () => {
  const names = source.flatMap((text) => /^ {2}'(.+)': \(/.exec(text)?.[1] ?? []);
  expect(names).toEqual(Object.keys(messages));
});
