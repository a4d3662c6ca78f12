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
  // The project's own compiler has checked them.
  skipErrorChecking: true,
  excludePrivate: true,
  excludeInternal: true,
  // Most types that are named and not exported are parts of a signature that is shown in full.
  validation: { notExported: false, invalidLink: true, notDocumented: false },
};

/**
 * Writes the API reference as markdown into a folder: a page for each entry and one for each name it exports, made
 * from the doc comments.
 *
 * @throws Error when typedoc cannot read the sources, or finds something wrong in a comment.
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
    // Sources are looked at to name the modules, and shown nowhere.
    disableGit: true,
    sourceLinkTemplate: '{path}',
    logLevel: 'Warn',
  } as Partial<TypeDocOptions>);
  const project = await app.convert();
  if (project === undefined) throw new Error('typedoc could not read the sources');
  nameModules(project, entries);
  app.options.setValue('out', folder);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('typedoc found what stands above');
}

/** Entries are called as they are imported, and files of the sources are not told. */
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
