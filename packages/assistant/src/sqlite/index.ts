/**
 * The stores and the memory of an assistant in a local file.
 *
 * @module
 */

export { type SqliteMemoryOptions, sqliteMemory } from './sqlite-memory.ts';
export { type SqliteSql, type SqliteSqlOptions, sqliteSql } from './sqlite-sql.ts';
