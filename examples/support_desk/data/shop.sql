-- The shop's database. The tools run this script when they open `shop.db`; it changes nothing that is there.
-- Dates count from the first start, so that the orders stay recent. Delete `shop.db` to begin again.
CREATE TABLE IF NOT EXISTS orders (
    number   TEXT PRIMARY KEY,
    customer TEXT NOT NULL,
    email    TEXT NOT NULL,
    item     TEXT NOT NULL,
    price    REAL NOT NULL, -- in euros
    ordered  TEXT NOT NULL,
    status   TEXT NOT NULL  -- delivered, on its way, lost
);
CREATE TABLE IF NOT EXISTS refunds (
    id       INTEGER PRIMARY KEY,
    number   TEXT NOT NULL REFERENCES orders,
    amount   REAL NOT NULL,
    reason   TEXT NOT NULL,
    made     TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT OR IGNORE INTO orders VALUES
    ('A-1001', 'Ann Smith',   'ann@example.com',   'oak stool',            89.00, date('now', '-6 days'),  'delivered'),
    ('A-1002', 'Ann Smith',   'ann@example.com',   'wood oil',             14.50, date('now', '-2 days'),  'on its way'),
    ('A-1003', 'Bob Miller',  'bob@example.com',   'ash dining table',    640.00, date('now', '-12 days'), 'delivered'),
    ('A-1004', 'Carla Rossi', 'carla@example.com', 'set of three chisels', 59.00, date('now', '-9 days'),  'lost'),
    ('A-1005', 'Dan Weber',   'dan@example.com',   'beech bookshelf',     210.00, date('now', '-75 days'), 'delivered'),
    ('A-1006', 'Eva Lund',    'eva@example.com',   'oak kitchen',        4800.00, date('now', '-20 days'), 'delivered');
