//! The graph as text and as DOT.

use lighterman_status::ContainerStatus as C;

use crate::{graph, name, node};

#[test]
fn text_has_one_line_per_container() {
    let (web, db) = (name("web"), name("database"));
    let nodes = [node(&web, C::Created, C::Running), node(&db, C::Running, C::Running)];
    insta::assert_snapshot!(graph(&["web", "database"]).to_text(&nodes), @r"
    web       CREATED -> RUNNING
    database  RUNNING
    ");
}

#[test]
fn dot_is_a_digraph_of_the_task() {
    let names = ["init", "db", "web"].map(name);
    let nodes = [
        node(&names[0], C::Stopped, C::Stopped),
        node(&names[1], C::Running, C::Running),
        node(&names[2], C::Pulled, C::Running),
    ];
    insta::assert_snapshot!(graph(&["init", "db", "web"]).to_dot("shop:3", &nodes), @r#"
    digraph "shop:3" {
      node [shape=box];
      "init" [tooltip="STOPPED", style=dashed];
      "db" [tooltip="RUNNING", style=bold];
      "web" [tooltip="PULLED -> RUNNING"];
    }
    "#);
}

#[test]
fn a_label_cannot_leave_its_quotes() {
    let web = name("web");
    let dot = graph(&["web"]).to_dot("a\"b\\c\nd", &[node(&web, C::None, C::None)]);
    assert_eq!(dot.lines().next(), Some(r#"digraph "a\"b\\c\nd" {"#));
}
