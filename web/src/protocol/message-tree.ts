/**
 * The tree of a conversation's messages and its head; the twin of `sessions/tree.py`, held to it by the same cases.
 * No message is lost (one whose parent is unknown becomes a root) and siblings keep the order in which they were added.
 */

export interface TreeNode {
  readonly id: string;
  readonly parentId: string | null;
}

export class MessageTree<Node extends TreeNode> {
  readonly #nodes = new Map<string, Node>();
  readonly #children = new Map<string | null, string[]>([[null, []]]);
  #head: string | null = null;

  constructor(nodes: Iterable<Node> = [], head: string | null = null) {
    for (const node of nodes) this.add(node);
    if (head !== null && this.#nodes.has(head)) this.#head = head;
  }

  get head(): string | null {
    return this.#head;
  }

  /** Adds a message under its parent and moves the head to it. */
  add(node: Node): void {
    if (this.#nodes.has(node.id)) throw new Error(`there is a message ${node.id} in this session already`);
    this.#nodes.set(node.id, node);
    this.#children.set(node.id, []);
    this.#childrenOf(this.#parentOf(node.id)).push(node.id);
    this.#head = node.id;
  }

  /** The messages from the root to this one, or to the head. */
  path(id: string | null = this.#head): Node[] {
    const path: Node[] = [];
    for (let current = id; current !== null; current = this.#parentOf(current)) path.push(this.#get(current));
    return path.reverse();
  }

  /** The messages with the same parent, this one among them, oldest first. */
  siblings(id: string): Node[] {
    return this.#childrenOf(this.#parentOf(this.#get(id).id)).map((sibling) => this.#get(sibling));
  }

  /** Moves the head to the newest leaf below this message, and returns it. */
  switch(id: string): string {
    const below = new Set(this.#subtree(id));
    let leaf = id;
    for (const candidate of this.#nodes.keys()) {
      if (below.has(candidate) && this.#childrenOf(candidate).length === 0) leaf = candidate;
    }
    this.#head = leaf;
    return leaf;
  }

  /** Removes this message and all below it; a head in there moves to a sibling's newest leaf, or the parent. */
  remove(id: string): string[] {
    const removed = this.#subtree(id);
    const parent = this.#parentOf(id);
    const siblings = this.#childrenOf(parent);
    const place = siblings.indexOf(id);
    siblings.splice(place, 1);
    for (const gone of removed) {
      this.#nodes.delete(gone);
      this.#children.delete(gone);
    }
    if (this.#head !== null && !this.#nodes.has(this.#head)) {
      this.#head = parent;
      const neighbour = siblings[Math.max(place - 1, 0)];
      if (neighbour !== undefined) this.switch(neighbour);
    }
    return removed;
  }

  #get(id: string): Node {
    const node = this.#nodes.get(id);
    if (node === undefined) throw new Error(`no message ${id} in this session`);
    return node;
  }

  #childrenOf(id: string | null): string[] {
    return this.#children.get(id) ?? [];
  }

  #parentOf(id: string): string | null {
    const { parentId } = this.#get(id);
    return parentId !== null && parentId !== id && this.#nodes.has(parentId) ? parentId : null;
  }

  /** This message and all below it, parents first. */
  #subtree(id: string): string[] {
    const found = [this.#get(id).id];
    for (const current of found) found.push(...this.#childrenOf(current));
    return found;
  }
}
