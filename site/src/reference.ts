import { join } from 'node:path';
import type { ProjectReflection, TypeDocOptions } from 'typedoc';
import { Application } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import type { Entry } from './entries.ts';

const look: Partial<PluginOptions> = {
  entryFileName: 'index',
  excludeScopesInPaths: true,
  hidePageHeader: true,
  indexFormat: 'table',
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  tableColumnSettings: { hideModifiers: true, hideSources: true },
  useCodeBlocks: true,
};

const rules: Partial<TypeDocOptions> = {
  // `npm run check` has checked the types.
  skipErrorChecking: true,
  excludePrivate: true,
  excludeInternal: true,
  // Most unexported types are part of a signature that is shown in full.
  validation: { notExported: false, invalidLink: true, notDocumented: false },
};

/**
 * Writes the API reference as markdown, with a page for each entry point and each of its exports.
 *
 * @throws Error if typedoc cannot read the sources or reports a problem in a comment.
 */
export async function writeReference(root: string, folder: string, entries: readonly Entry[]): Promise<void> {
  const app = await Application.bootstrapWithPlugins({
    ...rules,
    ...look,
    name: 'API',
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: entries.map(({ file }) => join(root, file)),
    tsconfig: join(root, 'tsconfig.json'),
    readme: 'none',
    // The source paths name the modules and are not shown.
    disableGit: true,
    sourceLinkTemplate: '{path}',
    logLevel: 'Warn',
  } as Partial<TypeDocOptions>);
  const project = await app.convert();
  if (project === undefined) throw new Error('typedoc could not read the sources');
  nameModules(project, entries);
  app.options.setValue('out', folder);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error('typedoc reported the problems above');
}

/** Names modules by their import specifiers, in package order, and removes source paths. */
function nameModules(project: ProjectReflection, entries: readonly Entry[]): void {
  const order = new Map(entries.map(({ specifier }, at) => [specifier, at]));
  for (const module of project.children ?? []) {
    const file = module.sources?.[0]?.fullFileName.replaceAll('\\', '/');
    module.name = entries.find((entry) => file?.endsWith(`/${entry.file}`))?.specifier ?? module.name;
  }
  for (const group of project.groups ?? [])
    group.children.sort((one, other) => (order.get(one.name) ?? 0) - (order.get(other.name) ?? 0));
  for (const reflection of Object.values(project.reflections))
    if ('sources' in reflection) delete reflection.sources;
}
