/**
 * Everything that requires Node: configuration, the fast transport, sessions and runs in a file, the workspace guard,
 * child processes.
 *
 * @module
 */

export { cobblerHome, loadConfig, parseConfig } from './config-file.ts';
export { type DefinitionPlace, definitionPlaces, type PlacesOptions } from './definition-places.ts';
export { type FileBlobsOptions, fileBlobs } from './file-blobs.ts';
export { type Anchor, HeldDirectory } from './held-directory.ts';
export type {
  ConfigPrice,
  FileConfig,
  LoadedConfig,
  McpAddress,
  McpProgram,
  McpServerConfig,
  McpServerLimits,
  NotifyConfig,
} from './loaded-config.ts';
export { isMcpName, mcpProblem } from './mcp-setting.ts';
export { childEnvironment } from './process/child-environment.ts';
export { type ReapedOrphans, reapOrphans, recordProcesses } from './process/orphans.ts';
export { OutputCapture } from './process/output-capture.ts';
export type { ProcessOptions, ProcessSystem } from './process/process-options.ts';
export type { ProcessEntry } from './process/process-table.ts';
export {
  type ProcessEnd,
  type SupervisedProcess,
  superviseProcess,
} from './process/process-tree.ts';
export {
  fileError,
  type OpenFile,
  quotePath,
  Workspace,
  type WorkspaceOptions,
  type WriteOptions,
} from './real-path.ts';
export { copyDatabase, type DatabaseFacts, isDatabase } from './sqlite/copy-database.ts';
export { isBusy, storeError } from './sqlite/database-error.ts';
export { type FileKind, type Migration, type OpenOptions, openDatabase } from './sqlite/database-file.ts';
export { type SalvagedSession, salvageStore } from './sqlite/salvage-store.ts';
export { type SqliteStoreOptions, sqliteStore } from './sqlite/sqlite-store.ts';
export { type StoreReport, type VerifiedSession, verifyStore } from './sqlite/verify.ts';
export type { OnWrite, WriteMoment } from './sqlite/write-moment.ts';
export { nodeTransport } from './transport.ts';
