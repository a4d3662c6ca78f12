import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';

/** A text with the values of its variables inserted. */
export interface FilledReferences {
  readonly text: string;
  /** The inserted values, which can be keys. */
  readonly secrets: readonly string[];
}

/**
 * Replaces `${NAME}` references with the values of variables.
 * @throws AgentError `invalid` for a variable that is not set: a partial key is worse than none.
 */
export function fillIn(text: string, env: Environment): FilledReferences {
  const secrets: string[] = [];
  const filled = text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (value === undefined || value === '') {
      throw new AgentError({
        kind: 'invalid',
        code: 'mcp_variable',
        message: `the variable ${name} is not set`,
      });
    }
    secrets.push(value);
    return value;
  });
  return { text: filled, secrets };
}

/** Replaces the references in every value of a table; each resulting value counts as a secret. */
export function fillAll(
  table: Readonly<Record<string, string>> | undefined,
  env: Environment,
): { readonly values: Record<string, string>; readonly secrets: readonly string[] } {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, text] of Object.entries(table ?? {})) {
    const filled = fillIn(text, env);
    values[name] = filled.text;
    secrets.push(filled.text, ...filled.secrets, filled.text.slice(filled.text.indexOf(' ') + 1));
  }
  return { values, secrets };
}
