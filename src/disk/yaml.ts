// The reader of YAML for who loads it late. The package is written for require: imported late by its own name, it would
// come without its names in the bundle.
export { parse, parseDocument, visit } from 'yaml'
