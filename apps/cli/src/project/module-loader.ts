import { registerHooks } from 'node:module';
import { AgentError, defineTool, toolOutput } from '@cobbler/agent';
import type { ImportModule } from '@cobbler/agent/definitions';

/** Our own functions for modules in a directory in which the package is not installed. */
const own = Symbol.for('cobbler.agent');
const ownModule = `data:text/javascript,export const { AgentError, defineTool, toolOutput } = globalThis[Symbol.for('cobbler.agent')];`;

const roots = new Set<string>();
let versions = 0;

/**
 * Returns a function that imports the tools of an agent, and the modules of its folder that they import, as they are now:
 * Node keeps the modules of each version. They are always ES modules, whatever a package.json says.
 */
export function moduleLoader(): ImportModule {
  if (versions === 0) register();
  versions += 1;
  const version = `?v=${versions}`;
  return (url) => {
    // The parent of the directory `tools`.
    roots.add(new URL('..', url).href);
    return import(url + version);
  };
}

function register(): void {
  Object.assign(globalThis, { [own]: { AgentError, defineTool, toolOutput } });
  const isOurs = (url: string) =>
    [...roots].some((root) => url.startsWith(root)) && !url.includes('/node_modules/');
  registerHooks({
    resolve: (specifier, context, next) => {
      const from = context.parentURL ?? '';
      try {
        const found = next(specifier, context);
        if (!isOurs(found.url)) return found;
        const version = found.url.includes('?') ? '' : (/\?v=\d+$/.exec(from)?.[0] ?? '');
        const [, type] = /\.m?([jt]s)(?:\?|$)/.exec(found.url) ?? [];
        const format = type === 'ts' ? 'module-typescript' : 'module';
        return { ...found, url: found.url + version, ...(type !== undefined && { format }) };
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        if (specifier !== '@cobbler/agent' || code !== 'ERR_MODULE_NOT_FOUND' || !isOurs(from)) throw error;
        return { url: ownModule, format: 'module', shortCircuit: true };
      }
    },
  });
}
