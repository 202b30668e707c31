"""The paper's figures as printed."""

from inlier.research.datasets import PrintedTable, printed_tables


def test_printed_tables_are_complete():
    tables = printed_tables()
    assert list(tables) == [f"table{i}" for i in range(1, 7)]
    assert all(isinstance(table, PrintedTable) for table in tables.values())
    assert sum(len(row) for table in tables.values() for row in table.errors.values()) == 109
    assert [table.setting for table in tables.values()] == ["A", "A", "B", "B", "faces", "B"]
    assert tables["table4"].vary == "n"
    assert tables["table4"].fixed == {"d": 100, "alpha": 0.2}
    assert list(tables["table4"].errors) == [100, 200, 500, 1000, 2000, 5000]
    assert tables["table6"].fixed == {"d": 2000, "n": 4000}
    assert list(tables["table6"].errors[0.1]) == ["iterative_filtering", "que", "lrv", "l1"]


def test_printed_figures():
    tables = printed_tables()
    assert tables["table1"].errors[0.3]["cdg"] == 0.1123
    assert tables["table2"].errors[0.1]["l1"] == 0.0302
    assert tables["table3"].errors[0.2]["lp"] == 0.0092
    assert tables["table4"].errors[5000]["iterative_filtering"] == 0.0598
    assert tables["table5"].errors[140]["lp"] == 18
    assert tables["table6"].errors[0.3]["lrv"] == 1.9066
    # The paper prints this experiment twice.
    assert tables["table3"].errors[0.2] == tables["table4"].errors[2000]


def test_printed_tables_can_be_changed_without_harm():
    printed_tables()["table1"].errors[0.1]["lp"] = 0.0
    assert printed_tables()["table1"].errors[0.1]["lp"] == 0.0052
