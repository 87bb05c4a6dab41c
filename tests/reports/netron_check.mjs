// Opens a model and an attachment with Netron's own code, as if the attachment were dropped onto the
// window, and prints the contents of the sidebars as JSON: {"model": …, "nodes": {name: {…}}, …}.
//
//   node netron_check.mjs FOLDER_OF_NETRON MODEL ATTACHMENT
import * as fs from 'fs/promises';
import * as path from 'path';
import * as url from 'url';

const [folder, model_file, attachment_file] = process.argv.slice(2);
const load = (id) => import(url.pathToFileURL(path.join(folder, `${id}.js`)).href);
const base = await load('base');
const view = await load('view');

class Host {
    async require(id) {
        return load(id.replace(/^\.\//, '').replace(/\.js$/, ''));
    }
    async asset(id) {
        return fs.readFile(path.join(folder, id), 'utf-8');
    }
    environment() {
        return undefined;
    }
    event() {
    }
    exception(error) {
        throw error;
    }
    get metadata() {
        return {};
    }
}

class Context {
    constructor(host, file, data) {
        this._host = host;
        this.identifier = path.basename(file);
        this.stream = new base.BinaryStream(data);
        this.entries = new Map();
        this.tags = new Map();
        this.content = new Map();
    }
    async asset(file) {
        return this._host.asset(file);
    }
    async require(id) {
        return this._host.require(id);
    }
    async fetch(file) {
        throw new Error(`There is no ${file}.`);
    }
    error(error) {
        this._host.exception(error);
    }
}

const host = new Host();
const open = async (file) => new Context(host, file, new Uint8Array(await fs.readFile(file)));
const model = await new view.ModelFactoryService(host).open(await open(model_file));
if (!await model.attachment.open(await open(attachment_file))) {
    throw new Error('Netron does not take this for an attachment.');
}

const shown = (list) => Object.fromEntries(list.map((argument) => [argument.name, argument.value]));
const { metrics, metadata } = model.attachment;
const result = { model: shown(metrics.model(model)), metadata: shown(metadata.model(model)), nodes: {}, tensors: {} };
for (const graph of model.modules) {
    for (const node of graph.nodes) {
        result.nodes[node.name] = shown(metrics.node(node));
        const inputs = node.inputs.flatMap((input) => Array.isArray(input.value) ? input.value : []);
        for (const value of inputs) {
            if (value && value.initializer) {
                result.tensors[value.initializer.name] = shown(metrics.tensor(value.initializer));
            }
        }
    }
}
console.log(JSON.stringify(result));
