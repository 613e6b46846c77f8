/** The card of `find_orders`: each order with its state, its price and what was refunded. */

const WORDS = {
  en: { refunded: "refunded", delivered: "delivered", "on its way": "on its way", lost: "lost" },
  zh: { refunded: "已退款", delivered: "已送达", "on its way": "运输中", lost: "丢失" },
};

/** @param {import("./dovetail").Dovetail} dovetail */
export default function register({ React, card }) {
  const h = React.createElement;

  card("find_orders", function Orders({ output, language }) {
    const words = WORDS[language];
    const money = new Intl.NumberFormat(language, { style: "currency", currency: "EUR" });
    return h(
      "div",
      { className: "orders" },
      output.map((order) =>
        h(
          "section",
          { key: order.number, className: "orders-order", "aria-label": order.number },
          h(
            "p",
            { className: "orders-head" },
            order.number,
            h("span", { className: "orders-status", "data-status": order.status }, words[order.status] ?? order.status),
          ),
          h("p", { className: "orders-item" }, order.item),
          h("p", { className: "orders-price" }, money.format(order.price)),
          h("p", { className: "orders-note" }, `${order.customer} · ${order.ordered}`),
          order.refunded > 0 && h("p", { className: "orders-note" }, `${money.format(order.refunded)} ${words.refunded}`),
        ),
      ),
    );
  });
}
